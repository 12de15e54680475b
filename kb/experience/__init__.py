"""Experience as data: verified cases, meta-skills, and the file that keeps them (paper, Section 4.4)."""
