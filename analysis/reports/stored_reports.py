"""Reports that are stored until something that they show has changed: their key says so.

Such a key says first what the report is about and who may see it, then in which state its data are,
and last how its filters came about: a bare address is noted on the page, the same filters spelled
out are not. So a figure can be asked for in the state that the page around it shows.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from django.core.cache import caches

from analysis.reports.content import Report
from benchmarks.source_digest import source_digest

KEEP_SECONDS = 24 * 60 * 60
# Characters of a key that name the subject; as many name the state, the rest names the notes.
SUBJECT, STATE, KEY = 12, 24, 32


def key_of(*parts: str) -> str:
    """Return the key of a report that today's source files make of these parts."""
    return sha256("\n".join([source_digest(), *parts]).encode()).hexdigest()[:32]


def key_of_state(subject: Sequence[str], state: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Return the key of a report on this subject, for readers named in it, in this state, with
    these notes on its filters.
    """
    rest = KEY - STATE
    return key_of(*subject)[:SUBJECT] + key_of(*state)[:SUBJECT] + key_of(*notes)[:rest]


def same_subject(key: str, other: str) -> bool:
    """Return whether two keys of `key_of_state` name one subject and its readers."""
    return key[:SUBJECT] == other[:SUBJECT]


def same_state(key: str, other: str) -> bool:
    """Return whether two keys of `key_of_state` differ in nothing but notes on the filters."""
    return key[:STATE] == other[:STATE]


def with_state(url: str, key: str) -> str:
    """Return the address of something in the state of the report with this key."""
    return f"{url}{'&' if '?' in url else '?'}state={key}"


def kept_report(key: str) -> Report | None:
    """Return the report of this key, if it was written before."""
    report: Report | None = caches["reports"].get(f"analysis:{key}")
    return report


def keep_report(key: str, write: Callable[[], Report]) -> Report:
    """Return the report of this key; write and store it where it was not written before.

    A report that waits for a job is not stored.
    """
    report = kept_report(key)
    if report is None:
        report = write()
        if report.waits:
            return report
        caches["reports"].set(f"analysis:{key}", report, KEEP_SECONDS)
    return report
