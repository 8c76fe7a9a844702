"""``underfelt doctor``: what is wrong on a new or sick machine, and how to mend it."""
