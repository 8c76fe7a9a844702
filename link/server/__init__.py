"""The ZeroMQ shell around the ledger and its store."""
