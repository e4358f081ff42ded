"""What stands in the log, and how much of it."""

import logging


class DeniedInOneLine(logging.Filter):
    """Leaves the stack trace out of what Django logs of a 403."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record; take the exception from that of a denied request."""
        if getattr(record, "status_code", None) == 403:
            record.exc_info = record.exc_text = None
        return True
