"""What table and server both write and exchange; imports nothing of ours."""

__version__ = "0.1.0"
"""Of the whole product; pyproject.toml reads it here."""
