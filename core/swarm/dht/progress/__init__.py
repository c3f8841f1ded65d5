"""How far the run is: what peers report, what of it is believed, and how much each may weigh."""
