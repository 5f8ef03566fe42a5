"""Shell: words, syntax trees, and the partial evaluation of scripts without running them."""
