"""Documentation, and the generator of the pages that are printed from the code."""
