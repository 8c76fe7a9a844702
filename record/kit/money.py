"""PURE: whole cents as text. The stand-alone verifier has its own, because it travels alone."""

from __future__ import annotations


def cents_text(cents: int) -> str:
    """``1234567`` as ``12,345.67``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def dollars(cents: int) -> str:
    """``1234567`` as ``$12,345.67``: an amount in a sentence."""
    return f"-${cents_text(-cents)}" if cents < 0 else f"${cents_text(cents)}"
