"""People's verdicts on recorded answers beside what the judges made of the same plans."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.filters.selection import Selection
from analysis.frames.scores import turn_scores
from analysis.frames.verdicts import SEVERAL, verdict_frame
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Empty,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    exclusions,
    how_interval,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, plural, stated
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.results import Estimate
from benchmarks.core.labels import plain
from benchmarks.core.registry import EXTERNAL, find_system

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "This page holds what people said of recorded answers beside what the judges say of them."
TITLES: Mapping[str, str] = {
    SEVERAL: "Several verdicts that differ",
    "": "No verdict recorded",
}
GROUPS = (("All called correct", "correct"), ("All called wrong", "wrong"))
MOST_IDS = 200
UNSCORED = "not every judge scored it"
UNKNOWN = "the judges did not decide on validity"


def verdicts_report(selection: Selection) -> Report:
    """Everything on the page about people's verdicts."""
    if not selection.runs or selection.system == EXTERNAL:
        return Report(empty=common.no_runs(PURPOSE, selection))
    frame = verdict_frame(selection.runs)
    if frame.empty:
        text = (
            f"{PURPOSE} No run chosen here ended with an answer that a person judged; datasets "
            "made "
            "from MacGyver problems and their recorded answers have such verdicts."
        )
        return Report(empty=Empty("No verdicts here", text))
    dimensions = common.dimensions_of(selection.system)
    scores = turn_scores(selection.runs, [d.key for d in dimensions], final=True)
    wide = scores.pivot_table(
        index="trajectory", columns="dimension", values="score", dropna=False
    ).reindex(columns=[d.key for d in dimensions])
    joined = frame.join(wide, on="trajectory")
    groups = _groups(joined, find_system(selection.system).labels.answer_verdicts)
    estimates = {
        title: {
            "valid": _mean(rows, "valid", UNKNOWN),
            **{d.key: _mean(rows, d.key, UNSCORED) for d in dimensions},
        }
        for title, rows in groups
    }
    table = Table(
        "verdicts",
        "People's verdicts and judges' scores",
        (
            text_column("People said"),
            number_column("Final plans"),
            estimate_column("Valid, say the judges"),
            *(estimate_column(d.title, help=d.definition) for d in dimensions),
        ),
        tuple(
            (
                _name(title),
                count_cell(len(rows), url=_list(rows)),
                estimate_cell(estimates[title]["valid"], "share", show_n=True),
                *(
                    estimate_cell(estimates[title][d.key], "points", show_n=True)
                    for d in dimensions
                ),
            )
            for title, rows in groups
        ),
        note="Final plans by the verdict on the recorded answer they are; 95 % intervals.",
    )
    every = [estimate for row in estimates.values() for estimate in row.values()]
    return Report(
        sentence=sentence({title: row["valid"] for title, row in estimates.items()}, len(frame)),
        tables=(table,),
        notices=tuple(common.selection_notices(selection)),
        how=(*common.how_runs(selection), *_how(joined, every)),
        methods="Judges' verdicts and mean scores are compared between recorded answers by the "
        "verdict that a person had given to the answer.",
    )


def _groups(frame: "DataFrame", labels: Mapping[str, str]) -> list[tuple[str, "DataFrame"]]:
    """The rows by verdict, best first, and before them all correct and all wrong ones."""
    titles = {**{code: words.capitalize() for code, words in labels.items()}, **TITLES}
    found = set(frame["verdict"])
    ordered = [verdict for verdict in labels if verdict in found]
    ordered += sorted(verdict for verdict in found if verdict and verdict not in labels)
    ordered += [""] if "" in found else []
    groups = []
    for title, prefix in GROUPS:
        rows = frame[frame["verdict"].str.startswith(prefix)]
        if len(rows):
            groups.append((title, rows))
    groups += [
        (titles.get(verdict) or plain(verdict), frame[frame["verdict"] == verdict])
        for verdict in ordered
    ]
    return groups


def _mean(rows: "DataFrame", column: str, reason: str) -> Estimate:
    known = rows[rows[column].notna()]
    gone = len(rows) - len(known)
    excluded = {reason: gone} if gone else {}
    if known.empty:
        return Estimate.without_value(reason, excluded=excluded)
    return mean_by_cluster(
        known[column].to_numpy(),
        known["task"].tolist(),
        excluded=excluded,
        scale=(0, 1) if column == "valid" else common.RUBRIC_SCALE,
    )


def sentence(valid: Mapping[str, Estimate], plans: int) -> str:
    """How often judges call valid what people called correct, and what they called wrong."""
    right, wrong = (valid.get(title) for title, _ in GROUPS)
    known = plural(plans, "final plan is a recorded answer", "final plans are recorded answers")
    if right is None or wrong is None or right.value is None or wrong.value is None:
        return (
            f"{known}, but whether judges side with people cannot be said: it takes valid and "
            "invalid plans among those called correct and those called wrong."
        )
    return (
        f"{known}: of those that people called correct the judges find "
        f"{stated(right, 'share')} valid, of those called wrong {stated(wrong, 'share')}."
    )


def _list(rows: "DataFrame") -> str:
    """The trajectories of a group, where an address can hold them all."""
    ids = ",".join(str(pk) for pk in rows["trajectory"])
    return common.trajectories({"ids": ids}) if len(rows) <= MOST_IDS else ""


def _name(title: str) -> Cell:
    return text_cell(title)


def _how(frame: "DataFrame", estimates: Sequence[Estimate]) -> list[str]:
    without = int((frame["verdict"] == "").sum())
    left = exclusions(estimates)
    return [
        "A final plan counts under the verdict that a person gave to the recorded answer with "
        "the same "
        "steps" + (f"; {without:,} of these answers have none." if without else "."),
        "Valid: the constraint judges found no hidden constraint violated. That is another "
        "question than "
        "whether the plan solves the problem, so the two need not agree.",
        f"Means with 95 % intervals by task: {how_interval(estimates) or 'none'}.",
        f"Left out: {counted(left)}." if left else "Nothing is left out.",
    ]
