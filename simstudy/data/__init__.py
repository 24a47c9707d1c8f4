"""Data: samples of rows, and the counts that learners share."""
