"""systemd's own syntax: unit files, their words, their environment."""
