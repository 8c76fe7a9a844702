"""``underfelt shell``: the terminal's side here, the daemon's in ``desk``, tests in ``testing``.

The terminal's side needs the core library alone.
"""
