"""Loads what reports are made with, before anybody asks for one."""

from importlib import import_module

from analysis.pages.catalogue import PAGES

# What frames, lists and tables load when they are first used.
HEAVY = (
    "numpy",
    "pandas",
    "scipy.stats",
    "analysis.trajectory_index.listing",
    "analysis.tables.agreement.report",
)


def load_reports() -> None:
    """Import the modules of all reports, which takes seconds of CPU once per process.

    A server does so in a thread after its start, so that neither its first page nor its first
    report waits for it.
    """
    for name in (*HEAVY, *(page.module for page in PAGES.values())):
        import_module(name)
