"""Random selections: the magic card and the lucky player, committed first and shown later.

Nothing in this package may know a dealt card: it imports the deck's names and nothing of the
engine, the table or the devices. Words and bytes: docs/rules/selections.md.
"""
