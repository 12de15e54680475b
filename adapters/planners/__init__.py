"""Planners and agents of others: unified-planning and gymnasium, with the engine beside them."""
