"""The engine's socket, and the commands of front ends."""
