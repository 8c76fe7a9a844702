"""What the journal means: entries and their bodies, snapshots, sealed cards, replay, and the folds.

It decides and opens nothing: records, keys, clocks and chance are passed in. The table daemon,
replay, evidence and the support bundle all read a journal through this package.
"""
