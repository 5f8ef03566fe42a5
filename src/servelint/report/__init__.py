"""Reports print findings. None of them knows of a rule or of a format that launches are written in."""

FORMATS = ("text", "concise", "json", "github", "gitlab", "html", "junit", "markdown", "rdjson", "sarif")
