"""How the members of a group reduce their tensors: the shares of a round, the parts, and what is sent when."""
