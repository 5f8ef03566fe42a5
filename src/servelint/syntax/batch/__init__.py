"""Windows batch files: their syntax, their variables, and what a program makes of a command line. Nothing is run."""
