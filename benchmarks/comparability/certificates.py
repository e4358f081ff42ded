"""Certificates of comparability: how stored runs compare with the setting of published figures.

They are computed from what is stored of a run: settings, pinned versions, who fills its roles, its
tasks and the digest of its dataset. What the papers had, each system declares
(`benchmarks.core.ports.comparability`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Count, Max

from benchmarks.core.ports.comparability import (
    VERDICTS,
    AnswererFacts,
    ComparedAspect,
    ComparisonVerdict,
    PublishedSetting,
    RunFacts,
    compare_run,
    setting_for,
)
from benchmarks.core.ports.results import Tone
from benchmarks.core.registry import find_system
from benchmarks.models import AnswererVersion, Dataset, Endpoint, Run, Task, Trajectory
from benchmarks.validity.selectors import current_certificate

WORST_FIRST: tuple[ComparisonVerdict, ...] = ("different", "unknown", "same")
# The aspects in which a dataset without a run can be compared.
OF_DATASET = ("split", "dataset")
# The colour of each verdict on pages.
TONES: Mapping[str, Tone] = {"same": "ok", "different": "warn", "unknown": "idle"}
# Kinds of runs that stand beside published figures.
COMPARED = (Run.Kind.MADE, Run.Kind.IMPORTED, Run.Kind.CONSTRUCTION)


class ComparedRun(NamedTuple):
    """What a certificate reads of a run; ``casting`` has the judges that count."""

    pk: int
    label: str
    level: str
    settings: Mapping[str, Any]
    pins: Mapping[str, Any]
    casting: Mapping[str, Sequence[Mapping[str, Any]]]
    imported: bool


@dataclass(frozen=True)
class Certificate:
    """How runs compare with the setting of a paper's figures; ``sources`` are where these stand."""

    paper: str
    sources: tuple[str, ...]
    rows: tuple[ComparedAspect, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of aspects by verdict, of those that occur."""
        verdicts = Counter(row.verdict for row in self.rows)
        return {name: verdicts[name] for name in VERDICTS if verdicts[name]}

    @property
    def marks(self) -> list[tuple[str, Tone]]:
        """The verdicts with their colours: 3 same, 2 different, 3 unknown."""
        return [(f"{count} {name}", TONES[name]) for name, count in self.counts.items()]

    @property
    def toned_rows(self) -> list[tuple[ComparedAspect, Tone]]:
        """The aspects with the colour of their verdict."""
        return [(row, TONES[row.verdict]) for row in self.rows]

    @property
    def title(self) -> str:
        """The paper and where in it the figures stand."""
        return f"{self.paper}, {', '.join(self.sources)}" if self.sources else self.paper

    @property
    def line(self) -> str:
        """The verdicts in a few words: 3 same · 2 different · 3 unknown."""
        return " · ".join(words for words, _ in self.marks)

    @property
    def text(self) -> str:
        """The certificate in one paragraph, for tables that leave the product."""
        parts = [f"Compared with the {self.title}: {self.line.replace(' ·', ',')}."]
        for name in VERDICTS:
            rows = [row for row in self.rows if row.verdict == name]
            if rows and name == "same":
                parts.append(f"Same: {', '.join(row.title.lower() for row in rows)}.")
            elif rows:
                listed = (
                    f"{row.title.lower()} ({row.here}; paper: {row.published})" for row in rows
                )
                parts.append(f"{name.capitalize()}: {', '.join(listed)}.")
        return " ".join(parts)

    def as_json(self) -> dict[str, Any]:
        return {
            "paper": self.paper,
            "sources": list(self.sources),
            "summary": self.counts,
            "aspects": [
                {"aspect": row.aspect, "title": row.title, "verdict": row.verdict,
                 "published": row.published, "here": row.here}
                for row in self.rows
            ],
        }  # fmt: skip


def join_certificates(certificates: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Return certificates each once: those that differ in their sources alone become one."""
    sources_by_content: dict[tuple[str, tuple[ComparedAspect, ...]], list[str]] = {}
    for one in certificates:
        sources = sources_by_content.setdefault((one.paper, one.rows), [])
        sources += [source for source in one.sources if source not in sources]
    return tuple(
        Certificate(paper, tuple(named), rows)
        for (paper, rows), named in sources_by_content.items()
    )


def run_certificates(run: Run) -> tuple[Certificate, ...]:
    """Return how a run compares with its paper, once for each setting of the paper's figures."""
    if run.kind not in COMPARED:
        return ()
    imported = run.kind == Run.Kind.IMPORTED
    stored = ComparedRun(
        run.pk, f"run {run.pk}", run.level, run.settings, run.pins, run.roles, imported
    )
    return certificates_of(run.dataset, [stored])


def dataset_certificates(dataset: Dataset, sources: Iterable[str]) -> tuple[Certificate, ...]:
    """Return how a dataset compares with the one that published figures describe.

    One that was constructed here compares as its construction does.
    """
    if dataset.made_by is not None:
        return run_certificates(dataset.made_by)
    return certificates_of(dataset, (), sources)


def certificates_of(
    dataset: Dataset, runs: Sequence[ComparedRun], sources: Iterable[str] | None = None
) -> tuple[Certificate, ...]:
    """Return how runs of a dataset compare with the settings of published figures.

    ``sources`` are where the figures stand that are shown beside them; None: all that the system
    declares. Runs that differ are told apart by their labels, and an aspect is the same only where
    it is so for all of them. Without runs the dataset alone is compared.
    """
    declared = find_system(dataset.system).comparability
    if not declared:
        return ()
    stated = _settings(declared, sources)
    if not runs:
        facts = _dataset_facts(dataset)
        return tuple(
            Certificate(one.paper, shown, _of_dataset(compare_run(one, facts)))
            for one, shown in stated
        )
    known = _facts_of(dataset, runs)
    return tuple(
        Certificate(
            one.paper,
            shown,
            _merged(
                [
                    (run.label, _with_left_out(dataset, run, compare_run(one, known[run.pk])))
                    for run in runs
                ]
            ),
        )
        for one, shown in stated
    )


def _settings(
    declared: Sequence[PublishedSetting], sources: Iterable[str] | None
) -> list[tuple[PublishedSetting, tuple[str, ...]]]:
    """Return the settings to compare with, each with the sources that it is named by."""
    if sources is None:
        return [(one, one.sources) for one in declared]
    sources_by_setting: dict[int, tuple[PublishedSetting, list[str]]] = {}
    for source in dict.fromkeys(sources):
        setting = setting_for(declared, source)
        if setting is not None:
            sources_by_setting.setdefault(id(setting), (setting, []))[1].append(source)
    if not sources_by_setting:
        usual = setting_for(declared, "")
        return [(usual, ())] if usual is not None else []
    return [
        (setting, tuple(sorted(filter(None, named))))
        for setting, named in sources_by_setting.values()
    ]


def _of_dataset(rows: Sequence[ComparedAspect]) -> tuple[ComparedAspect, ...]:
    return tuple(row for row in rows if row.aspect in OF_DATASET)


def _with_left_out(
    dataset: Dataset, run: ComparedRun, rows: tuple[ComparedAspect, ...]
) -> tuple[ComparedAspect, ...]:
    """Return the aspects; a split is another one where tasks of it are left out of the scores."""
    split = next(row for row in rows if row.aspect == "split")
    if split.verdict != "same":
        return rows
    validity = current_certificate(dataset)
    left_out = len(validity.unusable_tasks(run.level)) if validity is not None else 0
    if not left_out:
        return rows
    here = (
        f"{split.here}, {left_out:,} left out by default: their own reference does not solve them"
    )
    changed = ComparedAspect(split.aspect, "different", split.published, here)
    return tuple(changed if row is split else row for row in rows)


def _merged(
    compared: Sequence[tuple[str, tuple[ComparedAspect, ...]]],
) -> tuple[ComparedAspect, ...]:
    """Return the aspects of several runs as one: what they have, by run where they differ."""
    merged = []
    for rows in zip(*(rows for _, rows in compared), strict=True):
        verdicts = {row.verdict for row in rows}
        verdict = next(one for one in WORST_FIRST if one in verdicts)
        by_text: dict[str, list[str]] = {}
        for (label, _), row in zip(compared, rows, strict=True):
            by_text.setdefault(row.here, []).append(label)
        here = next(iter(by_text))
        if len(by_text) > 1:
            here = "; ".join(f"{text} ({_named(names)})" for text, names in by_text.items())
        merged.append(ComparedAspect(rows[0].aspect, verdict, rows[0].published, here))
    return tuple(merged)


def _named(names: Sequence[str]) -> str:
    """Name runs, as long as they are few."""
    return ", ".join(dict.fromkeys(names)) if len(names) <= 3 else f"{len(names)} runs"


# --- facts ----------------------------------------------------------------------------------------


def _facts_of(dataset: Dataset, runs: Sequence[ComparedRun]) -> dict[int, RunFacts]:
    """Return what is stored of runs of a dataset, by run, in queries that do not grow with them."""
    whole = _dataset_facts(dataset)
    rows = Trajectory.objects.filter(run__in=[run.pk for run in runs]).order_by()
    sizes = {
        run: (tasks, attempts)
        for run, tasks, attempts in rows.values_list("run").annotate(
            Count("task", distinct=True), Max("attempt")
        )
    }
    partial = [run for run, (tasks, _) in sizes.items() if tasks != whole.tasks]
    splits = _splits_of(partial) if whole.splits and partial else {}
    models = _endpoint_facts(runs)
    facts = {}
    for run in runs:
        tasks, attempts = sizes.get(run.pk, (0, 0))
        facts[run.pk] = RunFacts(
            whole.dataset,
            whole.checksum,
            tasks,
            splits.get(run.pk, whole.splits),
            whole.demo,
            imported=run.imported,
            level=run.level,
            attempts=attempts,
            settings=run.settings,
            pins=run.pins,
            roles={
                role: [_answerer(dataset.system, one, models) for one in assignments]
                for role, assignments in run.casting.items()
            },
        )
    return facts


def _dataset_facts(dataset: Dataset) -> RunFacts:
    tasks, splits = _tasks_of(dataset.pk, f"{dataset.checksum} {dataset.created_at}")
    return RunFacts(str(dataset), dataset.checksum, tasks, splits, dataset.is_demo)


@lru_cache(maxsize=256)
def _tasks_of(dataset: int, _version: str) -> tuple[int, Mapping[str, int]]:
    # The tasks of a stored dataset never change, and reading the splits parses every payload.
    rows = Task.objects.filter(dataset=dataset).order_by().values_list("payload__split")
    counts = sorted(rows.annotate(Count("pk")), key=str)
    named = {str(split): count for split, count in counts if split is not None}
    return sum(count for _, count in counts), named


def _splits_of(runs: Sequence[int]) -> dict[int, dict[str, int]]:
    """Count the tasks of runs on a part of a dataset, by the split that they name."""
    rows = Trajectory.objects.filter(run__in=runs).order_by()
    splits: dict[int, dict[str, int]] = {run: {} for run in runs}
    counts = rows.values_list("run", "task__payload__split").annotate(Count("task", distinct=True))
    for run, split, count in sorted(counts, key=str):
        if split is not None:
            splits[run][str(split)] = count
    return splits


def _endpoint_facts(runs: Sequence[ComparedRun]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return (model, parameters) of the endpoints in these runs, by version and by name.

    What an answerer was asked with comes before what its endpoint is now.
    """
    assigned = [one for run in runs for rows in run.casting.values() for one in rows]
    assigned = [one for one in assigned if one.get("kind") == "endpoint"]
    if not assigned:
        return {}
    rows = Endpoint.objects.filter(name__in={one.get("endpoint") for one in assigned})
    facts: dict[str, tuple[str, Mapping[str, Any]]] = {
        row.name: (row.model, row.parameters) for row in rows
    }
    versions = AnswererVersion.objects.filter(digest__in={one.get("version") for one in assigned})
    for row in versions:
        sent = row.parameters
        facts[row.digest] = (str(sent.get("model", "")), sent.get("parameters") or {})
    return facts


def _answerer(
    system: str,
    assignment: Mapping[str, Any],
    models: Mapping[str, tuple[str, Mapping[str, Any]]],
) -> AnswererFacts:
    """Return who a role assignment stands for."""
    label = str(assignment.get("label") or assignment.get("kind") or "unknown")
    if assignment.get("kind") == "endpoint":
        name = str(assignment.get("endpoint"))
        version = str(assignment.get("version"))
        model, parameters = models.get(version) or models.get(name) or ("", {})
        return AnswererFacts(label, str(assignment.get("title") or name), model, parameters)
    policy = str(assignment.get("policy") or "")
    known = find_system(system).scripted.get(policy)
    return AnswererFacts(label, known.title if known is not None else policy or "a person")
