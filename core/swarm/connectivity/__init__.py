"""How a peer is reached, whether others still answer it, and whether it is cut off."""
