"""What other members of a group send is checked, and who sends broken data is left out."""
