"""The round engine: facts in, a new state and effects out."""
