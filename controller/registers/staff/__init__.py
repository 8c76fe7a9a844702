"""The house's signed staff register: who may stand at a table, and how a PIN is checked.

Format, rules and codes: docs/operations/staff.md. A PIN is never kept, shown or logged.
"""
