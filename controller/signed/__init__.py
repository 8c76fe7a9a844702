"""What the signed registers share: keys, whole files, no way back, and errors with codes.

A register names its own codes by a prefix (``E-CHIP``, ``E-STAF``); the numbers mean the same in
each of them.
"""
