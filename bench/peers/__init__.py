"""Other servers that acknowledge durable events, each started from a folder of its own."""
