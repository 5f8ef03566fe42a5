"""Files beside a file: project bounds, settings files, siblings, git, and servelint's own comments."""
