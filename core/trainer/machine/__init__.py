"""How a session shares the computer with its user: processor, graphics card and memory."""
