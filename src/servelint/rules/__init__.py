"""Rules: data that says what is known to break, on which releases, and who says so."""
