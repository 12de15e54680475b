"""The outside world: command line, benchmarks, simulators, planners. Nothing here is imported unless used."""
