"""The table's side of the progressive link: docs/operations/link-table.md."""
