"""The backbone that an organiser runs: first contact, state, checkpoints, learning curve, web."""
