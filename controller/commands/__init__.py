"""One module per command of ``underfelt``; each has ``run(argv) -> exit code``."""
