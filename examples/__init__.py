"""Scenarios and small programs that show what Obviate does. `obviate run NAME` finds the scenarios here."""
