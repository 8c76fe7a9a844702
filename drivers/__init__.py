"""Device drivers: sans-I/O codecs and poll policies; imports nothing of controller or link."""
