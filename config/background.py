"""What the commands here ask of the apps. They are imported when first needed, not at start."""


def sweep_jobs() -> None:
    """Ring again for jobs that a dead worker held or that nobody began."""
    from benchmarks.jobs.services import sweep

    sweep()


def sweep_studies() -> None:
    """Close studies whose closing date has passed."""
    from annotation.studies.services import close_ended_studies

    close_ended_studies()


def sweep_sessions() -> None:
    """Apply the policies of live sessions that somebody has left, and note which have ended."""
    from annotation.live.control.timeouts import sweep_sessions as sweep

    sweep()


def sweep_search() -> None:
    """Have a worker take new texts into the index of words."""
    from analysis.browser.search.services import enqueue_index

    enqueue_index()


def ensure_demo() -> list[tuple[str, str, str]]:
    """Fill an empty database with the demo; its accounts as (name, password, role)."""
    from annotation.demo import services as demo

    return demo.ensure_demo()


def settle_restored() -> None:
    """Make rows that come from a backup fit for work."""
    from analysis.browser.search.services import forget_index
    from benchmarks.runs.restore import settle_restored as settle

    settle()
    forget_index()
