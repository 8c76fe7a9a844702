"""Commands of the link server; named in the table of controller/cli.py."""
