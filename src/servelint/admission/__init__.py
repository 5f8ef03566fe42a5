"""A validating webhook for Kubernetes: it judges objects that launch an engine before the cluster accepts them.

    app        HTTP: paths, limits, health, metrics          (serving: TLS, connections, stopping; cli.admission starts it)
      -> workers   processes that judge, each with a time limit (worker: one of them)
        -> answer    AdmissionReview to AdmissionReview, a pure function of request, policy, findings

Nothing is fetched, neither from the cluster (the content of a ConfigMap is unknown) nor from elsewhere.
"""
