"""What every process of ours needs of its machine: one word, one place.

The standard library and msgspec, nothing else: each package may import it.
"""
