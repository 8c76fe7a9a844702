"""The hardware simulator: every device of a table at the wire, written from docs/protocols alone.

It imports nothing of the product. It holds no rule book: its people do what their prompt, lamps and
scenario tell them.
"""
