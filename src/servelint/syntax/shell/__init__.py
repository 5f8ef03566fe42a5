"""Shell text: splitting words, and evaluating scripts as far as they can be known, without running them."""
