"""What goes through the DHT: peers, progress, contributions."""
