"""Published figures as estimates, to stand beside our own."""

from dataclasses import replace

from analysis.reports.content import PUBLISHED
from analysis.stats.descriptive.proportions import Method, published_share
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import Published

NO_COUNT = "published without n"


def published_estimate(
    entry: Published | None, *, is_rate: bool, method: Method = "wilson"
) -> Estimate:
    """A published figure with the digits of the paper; a share has the interval of its n."""
    if entry is None:
        return Estimate.without_value("not published")
    if not is_rate:
        return Estimate(entry.value, entry.n or 0, no_interval=PUBLISHED, printed=entry.printed)
    printed = f"{entry.printed} %"
    if not entry.n:
        return Estimate(entry.value / 100, 0, no_interval=NO_COUNT, printed=printed)
    return replace(published_share(entry.value / 100, entry.n, method=method), printed=printed)
