"""host: an organiser's backbone, and what a running one says."""
