"""What the pages ask of the record: lists, sums and dates, read on another thread from a view of it."""
