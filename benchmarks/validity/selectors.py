"""Read certificates of validity: which tasks are usable, and what blind policies score."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Q

from benchmarks.core.digests import digest
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import SYSTEMS, find_system
from benchmarks.core.system import System
from benchmarks.jobs.selectors import STATES
from benchmarks.models import Dataset, Job, Task, ValidityCertificate
from benchmarks.validity.trials import CERTIFICATE_VERSION, mean

KIND = "certify-dataset"
OPEN = (Job.Status.QUEUED, Job.Status.RUNNING)


def certificate_versions(system: System) -> dict[str, str]:
    """Return the versions that a certificate of the system's datasets holds for."""
    assert system.validity is not None
    return {
        "protocol": system.protocol_version,
        "parsers": system.parser_version,
        "scorer": system.scorer_version,
        "certificate": f"{CERTIFICATE_VERSION}.{system.validity.version}",
    }


class UnsolvedTask(NamedTuple):
    """A task at a level that the reference does not solve; ``pk`` is its row's id."""

    pk: int | None
    task: str
    level: str
    usable: bool
    reason: str


class BlindPolicy(NamedTuple):
    """A policy that does not read its task, with its scores by measure on the units played."""

    key: str
    title: str
    help: str
    values: Mapping[str, Sequence[float | None]]
    undefined: Mapping[str, int]
    answers: Mapping[str, str]

    def means(self, units: Sequence[int]) -> dict[str, tuple[float | None, int]]:
        """Return mean and number of defined values by measure, on these units."""
        means = {}
        for measure, values in self.values.items():
            known = [values[unit] for unit in units if values[unit] is not None]
            means[measure] = (mean(known), len(known))
        return means


class BlindRow(NamedTuple):
    """A blind policy with mean and n by measure, on ``n`` units; ``why`` some are undefined."""

    policy: BlindPolicy
    values: list[tuple[Measure, float | None, int]]
    n: int
    why: str


class CertifiedValidity:
    """A stored certificate as pages read it."""

    def __init__(self, row: ValidityCertificate) -> None:
        self.row, self.content = row, row.content
        self.system = find_system(row.dataset.system)
        self.reference: Mapping[str, Any] = row.content["reference"]
        self.policies = [
            BlindPolicy(
                one["key"], one["title"], one["help"], one["values"],
                {why.replace("_", " "): count for why, count in one["undefined"].items()},
                one.get("answers", {}),
            )
            for one in row.content["policies"]
        ]  # fmt: skip
        self._unsolved: list[Mapping[str, Any]] = self.reference["unsolved"]

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures that are certified, by name; the first ranks agents."""
        return {name: self.system.labels.measures[name] for name in self.content["measures"]}

    @property
    def main(self) -> Measure:
        """The measure that ranks agents."""
        return next(iter(self.measures.values()))

    def unusable(self, level: str | None = None) -> list[Mapping[str, Any]]:
        """Return what is left out by default: at all levels, or at one."""
        return [
            one
            for one in self._unsolved
            if not one["usable"] and (level is None or one["level"] == level)
        ]

    @property
    def checked(self) -> int:
        """How many units (tasks at a level) the reference played."""
        return int(self.reference["checked"])

    @property
    def solved(self) -> int:
        return self.checked - len(self._unsolved)

    @property
    def usable(self) -> int:
        return self.checked - len(self.unusable())

    def usable_at(self, level: str | None) -> tuple[int, int]:
        """Return how many units are usable, and how many were checked, at one level or at all."""
        if level is None or level not in (levels := self.reference["levels"]):
            return self.usable, self.checked
        checked = int(levels[level])
        return checked - len(self.unusable(level)), checked

    @property
    def unit(self) -> str:
        """What the reference plays: tasks, or profiles where tasks have levels."""
        leveled = any(level for _, level, _ in self.content["units"])
        several = len({level for _, level, _ in self.content["units"]}) > 1
        return "profile" if leveled and several else "task"

    def units(self, levels: Collection[str] | None = None, *, every: bool = False) -> list[int]:
        """Return the places of the units that blind policies played, at some levels.

        Without ``every`` those are left out that are not usable.
        """
        out = {(one["task"], one["level"]) for one in self.unusable()} if not every else set()
        return [
            place
            for place, (task, level, _) in enumerate(self.content["units"])
            if (levels is None or level in levels) and (task, level) not in out
        ]

    def unsolved(self) -> list[UnsolvedTask]:
        """Return the tasks that the reference does not solve, with their rows, unusable first."""
        names = {one["task"] for one in self._unsolved}
        rows = Task.objects.filter(dataset=self.row.dataset_id, external_id__in=names)
        ids = dict(rows.order_by().values_list("external_id", "pk"))
        tasks = [UnsolvedTask(ids.get(one["task"]), **one) for one in self._unsolved]
        return sorted(tasks, key=lambda one: one.usable)

    def unusable_tasks(self, level: str) -> frozenset[int]:
        """Return the ids of the tasks that are left out by default at a level."""
        names = [one["task"] for one in self.unusable(level)]
        if not names:
            return frozenset()
        rows = Task.objects.filter(dataset=self.row.dataset_id, external_id__in=names)
        return frozenset(rows.order_by().values_list("pk", flat=True))

    @property
    def usable_words(self) -> str:
        """How many units are usable: "185 of 200 tasks usable"."""
        plural = "" if self.checked == 1 else "s"
        return f"{self.usable:,} of {self.checked:,} {self.unit}{plural} usable"

    def summary(self, closed_tasks: Collection[int] = ()) -> dict[str, Any]:
        """Return what programs are told: counts, what is left out, and what policies score.

        Tasks that are closed to the reader are counted and not listed.
        """
        first = self.content["measures"][0]
        return {
            "digest": self.row.digest,
            "versions": self.row.versions,
            "checked": self.checked,
            "solved": self.solved,
            "usable": self.usable,
            "left_out": [
                {"task": one.task, "level": one.level, "reason": one.reason}
                for one in self.unsolved()
                if not one.usable and one.pk not in closed_tasks
            ],
            "measure": first,
            "blind": [
                {"policy": row.policy.key, "title": row.policy.title, "n": n, "value": value}
                for row in self.blind_rows()
                for _, value, n in row.values[:1]
            ],
            "assumptions": self.bracket_words,
            "form": self.form_words,
        }

    @property
    def part(self) -> int:
        """How many tasks were drawn, where the dataset has more than a certificate plays."""
        played = self.checked + int(self.reference["without"])
        levels = max(1, len({level for _, level, _ in self.content["units"]}))
        drawn = played // levels
        return drawn if drawn < self.content["tasks"] else 0

    def blind_rows(self) -> list[BlindRow]:
        """Return the blind policies with their means over the usable units of all levels."""
        places = self.units()
        rows = []
        for policy in self.policies:
            means = policy.means(places)
            values = [(measure, *means[name]) for name, measure in self.measures.items()]
            why = next(iter(policy.undefined), "")
            rows.append(BlindRow(policy, values, len(places), why))
        return rows

    def by_kind(self) -> list[tuple[str, int, list[float | None]]]:
        """Return kind, number of units, and each policy's mean of the first measure there."""
        first = self.content["measures"][0]
        kinds: dict[str, list[int]] = {}
        for place in self.units(every=True):
            kinds.setdefault(self.content["units"][place][2], []).append(place)
        return [
            (kind, len(places), [policy.means(places)[first][0] for policy in self.policies])
            for kind, places in sorted(kinds.items())
        ]

    @property
    def bracket(self) -> Mapping[str, Any] | None:
        """The contenders' means under two opposite assumptions; None where none decides."""
        bracket: Mapping[str, Any] | None = self.content["bracket"]
        return bracket

    @property
    def bracket_rows(self) -> list[tuple[str, list[float | None]]]:
        """The contenders with their means under both assumptions."""
        if self.bracket is None:
            return []
        means = zip(*self.bracket["values"], strict=True)
        return [
            (name, list(pair)) for name, pair in zip(self.bracket["contenders"], means, strict=True)
        ]

    @property
    def bracket_words(self) -> str:
        """Whether the order of scripts is the same under both assumptions, in a sentence."""
        if self.bracket is None:
            return ""
        names, swapped = self.bracket["contenders"], self.bracket["reversed"]
        if not swapped:
            return f"The order of {len(names)} scripts is the same under two opposite assumptions."
        pairs = len(names) * (len(names) - 1) // 2
        listed = "; ".join(" and ".join(pair) for pair in swapped)
        verb = "swaps" if len(swapped) == 1 else "swap"
        return (
            f"{len(swapped)} of {pairs} pairs of scripts {verb} order under the opposite "
            f"assumption: {listed}."
        )

    @property
    def form_words(self) -> str:
        """How much of the score the form of an answer decides, in a sentence."""
        forms, written = self.content["forms"]["forms"], self.content["forms"]["as_written"]
        known = [(form["value"], form["title"]) for form in forms if form["value"] is not None]
        if written is None or not known:
            return "What the form of an answer decides is not known: the reference has no score."
        worst, title = min(known)
        most = self.main.most
        if worst >= written - 1e-9:
            return f"The form of an answer decides nothing in {len(known)} forms that were tried."
        lost = f"{100 * (written - worst) / most:.1f} points" if most else f"{written - worst:.3g}"
        return (
            f"The form of an answer decides up to {lost}: the same answers score "
            f"{self.main.words(worst)} {title}, and {self.main.words(written)} as they are."
        )


def current_certificate(dataset: Dataset) -> CertifiedValidity | None:
    """Return the certificate of a dataset under the versions of now; None where there is none."""
    system = find_system(dataset.system)
    if system.validity is None:
        return None
    now = digest(certificate_versions(system))
    row = ValidityCertificate.objects.filter(dataset=dataset, versions_digest=now).first()
    if row is None:
        return None
    row.dataset = dataset
    return CertifiedValidity(row)


def unusable_tasks(datasets: Iterable[int] | None = None) -> dict[tuple[int, str], frozenset[int]]:
    """Return the ids of the tasks that figures leave out by default, by dataset and level.

    Certificates under the versions of now count: of these datasets, or of all without any.
    """
    current = Q(pk__in=[])
    for key in SYSTEMS:
        if (system := find_system(key)).validity is not None:
            now = digest(certificate_versions(system))
            current |= Q(dataset__system=key, versions_digest=now)
    rows = ValidityCertificate.objects.filter(current).order_by("pk")
    if datasets is not None:
        rows = rows.filter(dataset__in=list(datasets))
    names: dict[tuple[int, str], set[str]] = {}
    for dataset, unsolved in rows.values_list("dataset", "content__reference__unsolved"):
        for one in unsolved:
            if not one["usable"]:
                names.setdefault((dataset, one["level"]), set()).add(one["task"])
    if not names:
        return {}
    tasks = Task.objects.filter(
        dataset__in={dataset for dataset, _ in names}, external_id__in=set().union(*names.values())
    ).order_by()
    ids = {(dataset, name): pk for dataset, name, pk in
           tasks.values_list("dataset", "external_id", "pk")}  # fmt: skip
    return {
        (dataset, level): frozenset(ids[dataset, name] for name in wanted if (dataset, name) in ids)
        for (dataset, level), wanted in names.items()
    }


class CertificateView(NamedTuple):
    """The state of a dataset's certificate on a page; ``mark`` changes whenever the page would."""

    dataset: Dataset
    certificate: CertifiedValidity | None
    job: Job | None

    @property
    def moving(self) -> bool:
        return self.certificate is None and self.job is not None and self.job.status in OPEN

    @property
    def mark(self) -> str:
        return f"{self.job.status}-{self.job.done}" if self.job is not None else ""

    @property
    def words(self) -> str:
        """The text of the progress bar."""
        if self.job is None or self.job.status == Job.Status.QUEUED:
            return "Waiting for a worker"
        return f"{self.job.done} of at most {self.job.total} episodes"

    @property
    def failure(self) -> str:
        """Why the newest attempt came to nothing; empty where it did not."""
        if self.certificate is not None or self.job is None:
            return ""
        if self.job.status not in (Job.Status.FAILED, Job.Status.CANCELLED):
            return ""  # under way, or done under earlier versions
        return self.job.message.rstrip(".") or STATES[Job.Status(self.job.status)][0]


def certificate_view(dataset: Dataset) -> CertificateView | None:
    """Return the state of a dataset's certificate; None where its system has none."""
    if find_system(dataset.system).validity is None:
        return None
    certificate = current_certificate(dataset)
    job = None
    if certificate is None:
        jobs = Job.objects.filter(kind=KIND, payload__dataset=dataset.pk)
        job = jobs.order_by("-pk").first()
    return CertificateView(dataset, certificate, job)
