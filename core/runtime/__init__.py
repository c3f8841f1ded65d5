"""Installs the compute runtime and runs modules with it. The engine runs it as a process of its own."""
