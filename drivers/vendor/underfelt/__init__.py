"""What other packages may import of Underfelt: ``underfelt.driver``, and nothing else."""
