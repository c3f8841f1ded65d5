"""What binds the engine to its machine: sensors, alarms, lock and logs."""
