"""Device drivers: pure codecs and poll policies, one folder per device, over thin transports."""
