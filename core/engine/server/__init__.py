"""The engine's socket: what front ends can ask, and the answers."""
