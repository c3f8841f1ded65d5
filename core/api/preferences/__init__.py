"""What a volunteer chooses: preferences, the week, and the commands that change them."""
