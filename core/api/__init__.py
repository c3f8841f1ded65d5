"""The contract between the processes: values, messages and errors. Imports nothing else of core."""
