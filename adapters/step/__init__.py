"""What a step costs: made-up houses, the same updates for every backend and its peers, times and memory."""
