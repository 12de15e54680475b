"""Language models as planners of the just-in-time loop."""
