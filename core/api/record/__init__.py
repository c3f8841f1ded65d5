"""The contribution record as front ends see it."""
