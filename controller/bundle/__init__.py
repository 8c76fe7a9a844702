"""``underfelt bundle``: diagnostics for support, without keys or hidden cards."""
