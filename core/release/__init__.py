"""New versions of a package: the signed release file, the download, the exchange. The engine runs it as a process."""
