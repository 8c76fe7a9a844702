"""People at the simulated table: players with chips and a dealer with eyes and fingers."""
