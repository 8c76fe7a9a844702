"""The daemon's side of the shell: who asks, what may be asked, the record of it, the answers."""
