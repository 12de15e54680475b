"""Instructions in words to instruction programs and their dependencies (MIND paper, Section IV-A)."""
