"""A validating webhook of Kubernetes: objects that launch an engine are judged before the cluster takes them.

    app        HTTP: paths, bounds, health, metrics          (serving: TLS, connections, stopping; cli.admission starts it)
      -> workers   processes that judge, each with a time budget
        -> answer    AdmissionReview -> AdmissionReview, a pure function:  request, policy, found, wording

Nothing is fetched: neither from the cluster (what a ConfigMap holds is unknown) nor from elsewhere.
"""
