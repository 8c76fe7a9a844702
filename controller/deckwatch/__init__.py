"""Deck watch: are the decks shuffled? Statistics over what was dealt, after it is public. Pure.

It gets nothing that a patient onlooker with a notebook could not know. What it finds and what
to do about it: docs/operations/deck-watch.md.
"""
