"""A second opinion on ``settle``, written from the contract and the rule books alone."""
