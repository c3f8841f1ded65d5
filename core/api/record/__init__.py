"""The record of what was given, as front ends see it."""
