"""The front ends: window, tray and command line. Imports core.api and nothing else of core."""
