"""The codec law by mutation: millions of broken frames, each reproducible by its number."""
