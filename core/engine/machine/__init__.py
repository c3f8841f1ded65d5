"""The engine's access to its machine: sensors, alarms, lock and logs."""
