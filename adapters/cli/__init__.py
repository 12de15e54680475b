"""The `obviate` command."""
