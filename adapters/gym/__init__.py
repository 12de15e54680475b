"""Environments of gymnasium: our household as one, and the engine around any."""
