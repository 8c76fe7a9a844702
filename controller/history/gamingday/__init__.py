"""The gaming day: an exact fold over a table's journal, and its report.

Pure. The running table, a start and an auditor run the same code over the same records.
"""
