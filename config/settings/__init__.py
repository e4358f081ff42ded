"""Settings: ``base`` and, on top of it, ``local`` (the default), ``test`` and ``production``."""
