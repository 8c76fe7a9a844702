"""What a controller loads by dotted path to reach the simulator's bus and pins."""
