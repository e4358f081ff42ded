"""Loads what reports are made with, before anybody asks for one."""

import gc
from importlib import import_module

from analysis.pages import PAGES

# What frames, lists and tables load when they are first used.
HEAVY = ("numpy", "pandas", "scipy.stats", "analysis.facts.listing", "analysis.tidy.report")


def load_reports() -> None:
    """Import the modules of all reports, which takes seconds of CPU and is needed once a process.

    A server does so in a thread after its start, so that neither its first page nor its first
    report waits for it. What has been loaded by then stays, and the garbage collector leaves it
    alone from then on: to look through it takes as long as to make a page.
    """
    for name in (*HEAVY, *(page.report.rpartition(".")[0] for page in PAGES.values())):
        import_module(name)
    gc.collect()
    gc.freeze()
