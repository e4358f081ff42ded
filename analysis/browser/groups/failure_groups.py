"""The choice of trajectories to group by fault and by texts, and the options of an address."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from django.http import QueryDict
from pydantic import BaseModel, ConfigDict, Field

from analysis.filters.addresses import read_address
from analysis.frames.failure_texts import BOTH, FEEDBACK, PLAN
from analysis.pages.saved_views.selectors import usual_query
from analysis.reports.content import Report
from analysis.reports.deferred_reports import Params, ReportRequest, report_maker
from analysis.reports.stored_reports import key_of_state
from benchmarks.visibility import Visibility

if TYPE_CHECKING:
    from analysis.trajectory_index.listing import Listing
    from analysis.trajectory_index.runs import IndexedRunRow

MAKER = "failure-groups"
FAILED, ALL = "failed", "all"
AMONG = {FAILED: "Those that failed", ALL: "All that ended"}
TEXTS = {BOTH: "Feedback and last plan", FEEDBACK: "Feedback", PLAN: "Last plan"}
FEWEST, MOST = 2, 12
LARGEST_SEED = 2**32 - 1
# What belongs to a page of a list, or to a question how far this is, not to what a list chooses.
PLACE = ("after", "before", "order", "waiting")
# More texts than this are drawn from.
MOST_TEXTS = 2000


class GroupChoice(BaseModel):
    """How trajectories are grouped, as addresses and the API say it."""

    model_config = ConfigDict(frozen=True)

    among: Literal[tuple(AMONG)] = Field(  # type: ignore[valid-type]
        FAILED, description="Failed ones, or all that ended."
    )
    texts: Literal[tuple(TEXTS)] = BOTH  # type: ignore[valid-type]
    groups: int | None = Field(
        None, ge=FEWEST, le=MOST, description="Number of groups; chosen by silhouette if omitted."
    )
    seed: int = Field(1, ge=0, le=LARGEST_SEED)


class GroupOptions(GroupChoice):
    """A choice about the list of ``query``; ``problems`` name what the address cannot mean."""

    query: str = ""
    problems: tuple[str, ...] = ()

    @property
    def full_query(self) -> str:
        """The address of the page that shows this, seed and all."""
        params = QueryDict(self.query, mutable=True)
        params.update({"among": self.among, "texts": self.texts, "seed": str(self.seed)})
        if self.groups:
            params["groups"] = str(self.groups)
        return usual_query(params.urlencode())


@dataclass(frozen=True)
class GroupedTrajectories:
    """The trajectories that are grouped, ascending, with the title of each one's agent.

    ``matching`` counts those of the list, ``left_out`` those of them that are not grouped, by
    reason. ``marks`` are what the runs are, where they are not the real thing. ``settled``: no run
    of the list is under way, so that the same address asks for the same a moment later.
    """

    ids: tuple[int, ...]
    agents: tuple[str, ...]
    matching: int
    failed: int
    left_out: Mapping[str, int]
    marks: Mapping[str, int] = field(default_factory=dict)
    version: str = ""
    settled: bool = True


def read_group_options(params: QueryDict) -> GroupOptions:
    """Return the choice of an address; what it cannot mean is named and replaced by the usual."""
    rest = params.copy()
    for name in (*GroupChoice.model_fields, *PLACE, "state"):
        rest.pop(name, None)
    problems: list[str] = []

    def fault(name: str, expected: str, found: Any) -> None:
        problems.append(f"“{found[:40]}” is no {name}: expected {expected}.")

    choice = read_address(GroupChoice, params, fault)
    query = usual_query(rest.urlencode())
    return GroupOptions(**choice.model_dump(), query=query, problems=tuple(problems))


def choose(listed: "Listing", asked: GroupOptions) -> GroupedTrajectories:
    """Return those of a list that ended, or failed. What its reader may not see is in no list.

    Failed means: not accurate; where that is undefined, not valid; where that is, too, without the
    full reward.
    """
    from analysis.trajectory_index.columns import NONE

    columns = listed.index.columns
    ended, verdict = _verdicts(listed)
    failed = ended & (verdict == 0)
    rows = failed if asked.among == FAILED else ended
    reasons = {"not ended": int(listed.rows.sum() - ended.sum())}
    if asked.among == FAILED:
        reasons["did not fail"] = int((ended & (verdict == 1)).sum())
        reasons["no verdict"] = int((ended & (verdict == NONE)).sum())
    runs = _runs(listed, rows)
    versions = sorted({f"{run.pk} {run.version.kept}" for run in runs})
    return GroupedTrajectories(
        ids=tuple(columns.id[rows].tolist()),
        agents=tuple(run.agent_title for run in runs),
        matching=int(listed.rows.sum()),
        failed=int(failed.sum()),
        left_out={reason: count for reason, count in reasons.items() if count},
        marks=Counter(run.marker for run in runs),
        version="\n".join(versions),
        settled=not any(run.under_way for run in _runs(listed, listed.rows)),
    )


def failed_count(listed: "Listing") -> int:
    """Return how many trajectories of a list failed, as `choose` counts them."""
    ended, verdict = _verdicts(listed)
    return int((ended & (verdict == 0)).sum())


def _verdicts(listed: "Listing") -> tuple[Any, Any]:
    """Return which rows of the index are listed and ended, and the verdict of each row: 1, 0 or
    NONE.
    """
    import numpy as np

    from analysis.trajectory_index.columns import NONE, STATES
    from benchmarks.core.ports.results import NEARLY

    columns = listed.index.columns
    ended = listed.rows & (columns.state == STATES.index("done"))
    rewarded = np.where(np.isnan(columns.reward), NONE, columns.reward >= 1 - NEARLY)
    verdict = np.where(columns.accurate != NONE, columns.accurate, columns.valid)
    return ended, np.where(verdict != NONE, verdict, rewarded)


def _runs(listed: "Listing", rows: Any) -> list["IndexedRunRow"]:
    """Return the run of each of these rows."""
    return [listed.index.runs[place] for place in listed.index.run_index[rows].tolist()]


def wanted_groups(
    asked: GroupOptions, chosen: GroupedTrajectories, seen: Visibility
) -> ReportRequest:
    """Return the report on them; its key names another state as soon as another trajectory is among
    them.
    """
    parts = (chosen.ids, chosen.agents, chosen.matching, sorted(chosen.left_out.items()))
    digest = blake2b(repr(parts).encode(), digest_size=16).hexdigest()
    closed = (repr(sorted(seen.closed)), repr(sorted(seen.tasks)))
    key = key_of_state((MAKER, asked.full_query, *closed), (digest, chosen.version))
    return ReportRequest(MAKER, {"query": asked.full_query}, key, "Groups of failures")


@report_maker(MAKER)
def make_groups(params: Params, seen: Visibility) -> tuple[str, Callable[[], Report]]:
    """Return the report that an address asks for, for somebody who may see so much."""
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    asked = read_group_options(QueryDict(params["query"]))
    chosen = choose(listing(QueryDict(asked.query), seen), asked)
    key = wanted_groups(asked, chosen, seen).key
    written: Any = import_module("analysis.browser.groups.report").groups_report
    return key, lambda: written(asked, chosen, key)


def drawn(ids: Sequence[int], seed: int) -> Sequence[int]:
    """Return all of them, or as many as are grouped at once, drawn without replacement and
    ascending.
    """
    return sample_ids(ids, MOST_TEXTS, seed)


def sample_ids(ids: Sequence[int], most: int, seed: int) -> Sequence[int]:
    """Return all ids, or ``most`` of them, drawn without replacement and ascending."""
    import numpy as np

    if len(ids) <= most:
        return ids
    rng = np.random.default_rng(seed)
    sample: list[int] = np.sort(rng.choice(np.array(ids), most, replace=False)).tolist()
    return sample
