"""What can be wrong at a table, in words: every code, what it means and what to do."""
