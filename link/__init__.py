"""The progressive-link server; never imports controller."""
