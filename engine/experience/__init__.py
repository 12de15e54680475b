"""Learning from experience: mining and verifying cases, rehearsing and inducing meta-skills (paper, Section 4.4)."""
