"""C4.5: decision trees by gain ratio, pruned by pessimistic error (Quinlan 1993)."""
