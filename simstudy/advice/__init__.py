"""Advice on a table: which learner to use, and what more rows would bring."""
