"""What goes wrong with backups, in words for whoever typed the command."""


class BackupError(Exception):
    """A backup cannot be made or restored; nothing was changed."""


class Interrupted(Exception):
    """Somebody asked the command to stop; nothing was changed."""
