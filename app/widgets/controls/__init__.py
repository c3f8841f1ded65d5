"""What a person operates: switches, lists of choices, buttons that choose."""
