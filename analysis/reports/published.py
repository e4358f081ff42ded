"""Published figures as estimates and cells, to stand beside our own."""

from dataclasses import replace

from analysis.reports.content import PUBLISHED, Cell, rounded
from analysis.stats.descriptive.proportions import Method, published_share
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import Published, PublishedCount

NO_COUNT = "published without n"


def published_estimate(
    entry: Published | None, *, is_rate: bool, method: Method = "wilson"
) -> Estimate:
    """Return a published figure with the digits of the paper; a share has the interval of its n."""
    if entry is None:
        return Estimate.without_value("not published")
    if not is_rate:
        estimate = Estimate(entry.value, entry.n or 0, no_interval=PUBLISHED)
    elif not entry.n:
        estimate = Estimate(entry.value / 100, 0, no_interval=NO_COUNT)
    else:
        estimate = published_share(entry.value / 100, entry.n, method=method)
    return replace(
        estimate,
        printed=f"{entry.printed} %" if is_rate else entry.printed,
        printed_error=entry.printed_error,
        source=entry.source,
    )


def published_rate_cell(published: PublishedCount | None) -> Cell:
    """Return a published share as a cell, with the counts where the paper gives them."""
    if published is None:
        why = "not published"
        return Cell(data=(None,) * 7 + (why,), reason=why)
    counts = (published.hits, published.of)
    sub = f"{published.hits:,} of {published.of:,}" if published.hits and published.of else ""
    data = (rounded(published.share), *counts, *(None,) * 4, PUBLISHED)
    return Cell(
        f"{100 * published.share:.2f} %",
        data,
        sub=sub,
        tip=published.source,
        source=published.source,
    )


def published_count_estimate(published: PublishedCount) -> Estimate:
    """Return a published share as figures take it."""
    return Estimate(published.share, published.of or 0, no_interval=PUBLISHED)
