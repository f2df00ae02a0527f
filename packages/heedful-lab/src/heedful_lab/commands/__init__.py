"""``heedful reproduce`` and ``heedful bench``."""
