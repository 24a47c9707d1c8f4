"""What a study leaves on disk: the journal of its cells, the store, and how it is read."""
