"""The Pi's own pins and its supply flags."""
