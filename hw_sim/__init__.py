"""The hardware simulator: an independent second implementation; imports nothing of ours."""
