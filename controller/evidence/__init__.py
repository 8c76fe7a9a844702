"""``underfelt evidence``: what proves one jackpot, in a folder that needs nothing else."""
