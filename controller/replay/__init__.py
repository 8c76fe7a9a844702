"""A past round, moment by moment, from journal and frame log: for disputes."""
