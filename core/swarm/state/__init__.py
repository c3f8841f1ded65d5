"""The run's state: its transfer between peers, its checks, and which way of it is the run's."""
