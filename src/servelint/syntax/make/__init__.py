"""make's own syntax: logical lines, variables, rules and their recipes. Nothing is run."""
