"""Tests of evidence packs and diagnostics archives."""
