"""Known findings: a file of those that a team has accepted, so that a check tells of what is new."""
