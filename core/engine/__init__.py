"""The engine: one process per profile that decides, supervises the trainer and writes the record."""
