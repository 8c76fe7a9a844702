"""``underfelt bundle``: what a far-off engineer needs to see, without a key or a closed card."""
