"""What table and server both write and exchange; imports nothing of ours."""
