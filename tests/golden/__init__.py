"""Files that earlier versions wrote, read by this one: see README.md."""
