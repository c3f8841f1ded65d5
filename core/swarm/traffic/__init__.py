"""Traffic: measured and kept under the volunteer's ceilings."""
