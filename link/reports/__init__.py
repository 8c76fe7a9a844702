"""PURE: reports of the link: folds over stored rows, wherever a command gets them from."""
