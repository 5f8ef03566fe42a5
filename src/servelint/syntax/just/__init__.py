"""just's own syntax: settings, variables, recipes and their parameters. Nothing is run."""
