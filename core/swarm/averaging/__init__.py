"""Who averages with whom, and when: the collaborative step, its averagers and their groups."""
