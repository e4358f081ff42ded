"""What the papers say of whole pages, with where it stands there; single figures are in systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from analysis.reports.content import PUBLISHED
from analysis.stats.descriptive.proportions import Method, published_share
from analysis.stats.results import Estimate
from benchmarks.core.system import Published
from benchmarks.systems.adaplanbench.published import CORRELATION_TOLERANCE, CORRELATIONS, MODELS


@dataclass(frozen=True)
class PublishedCount:
    """A published share as it is printed; ``hits`` of ``of`` where the paper counts them.

    ``units`` counts the trajectories or tasks behind it.
    """

    share: float
    source: str
    units: int
    hits: int | None = None
    of: int | None = None


@dataclass(frozen=True)
class Reference:
    """Statements of one paper that a page holds its own figures against.

    ``questions`` are published means of questions to people, by key; ``dispersion`` is what all
    published spreads between judges stay below.
    """

    name: str
    tasks: str
    correlations: Mapping[str, float] = field(default_factory=dict)
    correlations_source: str = ""
    correlations_n: int = 0
    tolerance: float = 0.0
    agreement: str = ""
    agreement_below: tuple[str, ...] = ()
    questions: Mapping[str, float] = field(default_factory=dict)
    dispersion: float | None = None
    dispersion_source: str = ""
    checks: Mapping[str, PublishedCount] = field(default_factory=dict)


VIOLATION_CHECK = "appendix C.2: 166 turns of 30 trajectories"
FILTER_CHECK = "appendix C.2: 30 instances, three annotators each"
REFERENCES: Mapping[str, Reference] = {
    "adaplanbench": Reference(
        name="AdaPlanBench paper",
        tasks="307 household tasks of the paper, level not stated",
        correlations=CORRELATIONS,
        correlations_source="section 3.2",
        correlations_n=len(MODELS),
        tolerance=CORRELATION_TOLERANCE,
        agreement=(
            "The AdaPlanBench paper reports at least 60 % of items exactly equal on six of eight "
            "dimensions (not on physical plausibility and effectiveness) and more than 80 % of all "
            "differences within one point, over 240 trajectories with one annotator each "
            "(appendix F.2)."
        ),
        agreement_below=("physical_plausibility", "effectiveness"),
        questions={"feedback_reasonable": 4.45, "feedback_clear": 4.66},
        dispersion=0.30,
        dispersion_source="appendix F.2, Figure 19",
        checks={
            "exact": PublishedCount(0.8976, VIOLATION_CHECK, 30, 149, 166),
            "within_one": PublishedCount(161 / 166, VIOLATION_CHECK, 30, 161, 166),
            "removed": PublishedCount(0.4218, FILTER_CHECK, 30),
            "false_negative_rate": PublishedCount(0.0231, FILTER_CHECK, 30),
            "false_positive_rate": PublishedCount(0.0372, FILTER_CHECK, 30),
        },
    ),
}
NONE = Reference("", "")


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


def reference_of(system: str) -> Reference:
    return REFERENCES.get(system, NONE)
