"""What a table and the link server say to each other: docs/protocols/link.md."""
