"""``underfelt shell``: verbs, parsing, rendering and the client, in the core library alone."""
