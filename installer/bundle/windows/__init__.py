"""The installer for Windows, by NSIS: its script compiles on Linux too."""
