"""Answers as lines of at most so many columns. Pure: data in, lines out; no colour."""
