"""The house's signed registers: which tag is which chip, and who may stand at a table.

Here is what both share: keys, whole files, checks, no way back, and errors with codes. ``kinds``
says how they differ; ``chips`` and ``staff`` hold what is in them.
"""
