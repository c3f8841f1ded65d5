"""The record on disk: one SQLite file per profile, opened by the engine alone."""
