"""What is said of a study in words; none of it claims more than the tests support."""
