"""`servelint scan`: the linter over many repositories, on the processes of a machine or on a cluster."""
