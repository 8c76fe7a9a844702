"""The demonstrations: rounds told in the terminal, and a small casino floor that runs live.

``scripted_dealer`` plays rounds through the engine, ``narrator`` tells them. ``floor`` runs a link
server, five tables and their pages as real processes: ``setup`` makes their folder, ``processes``
keeps them running and ``sources`` asks their sockets. ``views`` and ``screen`` are pure but for the
terminal itself.
"""
