"""Linting many repositories: folders, git object stores, archives, over processes or a cluster. Nothing else imports it."""
