"""The engine's access to its machine: sensors, alarms, time zone, lock and logs."""
