"""A demonstration floor: a link server and three tables as real processes, looked at live.

``state`` and ``screen`` and ``telling`` are pure: what is known, and what it looks like. ``house``
makes the folder, ``children`` keeps the processes, ``looking`` asks their sockets, ``running`` is
the loop.
"""
