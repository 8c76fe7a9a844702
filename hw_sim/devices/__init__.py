"""Device models, each written from its page in docs/protocols."""
