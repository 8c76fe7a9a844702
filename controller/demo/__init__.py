"""The demonstrations: rounds told in the terminal, and a small casino floor that runs live.

``croupier`` plays rounds through the engine, ``narrator`` tells them. ``floor`` runs a link server
and three tables as real processes: ``setup`` makes their folder, ``processes`` keeps them running
and ``sources`` asks their sockets. ``telling``, ``awards`` and ``screen`` are pure but for the
terminal itself.
"""
