"""doctor: what works on this computer, and what does not."""
