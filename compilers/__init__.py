"""Language to logic: compilers from principles and instructions to answer set programs."""
