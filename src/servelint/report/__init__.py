"""Reports print findings. None of them knows of a rule or of a format that launches are written in."""
