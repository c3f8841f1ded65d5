"""What volunteers are credited with: claims are read, judged and stored."""
