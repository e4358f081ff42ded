"""Derive what is stored of runs anew from their logs, and say what differs; seal runs."""

import json
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.models import Run
from benchmarks.verification.checks import StoredDifference
from benchmarks.verification.seals import RunSeal, seal_run
from benchmarks.verification.services import STATES, RunReport, verify_run
from benchmarks.verification.stored_rows import KnownRows
from benchmarks.visibility import EVERYTHING


def read_time(text: str) -> datetime:
    """Return a date or a time in ISO format; where it names no zone, UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--since: expected a date such as 2026-11-22, found {text!r}") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# The largest file of seals that is read.
LARGEST_FILE = 50_000_000
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


@dataclass(frozen=True)
class KeptSeals:
    """Seals that were kept: a digest alone, or those of a file by run, with their parts."""

    digest: str = ""
    by_run: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def difference(self, seal: RunSeal) -> StoredDifference | None:
        """Return how the seal of a run differs from the kept one; None where it does not."""
        kept = self.by_run.get(seal.run, {"digest": self.digest, "parts": {}})
        if kept["digest"] == seal.digest:
            return None
        changed = seal.changed(kept["parts"]) if kept["parts"] else []
        where = f"seal of the run, changed: {', '.join(changed)}" if changed else "seal of the run"
        return StoredDifference(where, seal.digest, kept["digest"], "sealed")


def read_seals(text: str) -> KeptSeals:
    """Read a digest, or the file that ``verify --seal --json`` wrote."""
    if digest := _DIGEST.fullmatch(text.strip()):
        return KeptSeals(digest[1])
    path = Path(text)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CommandError(f"--sealed: {path} is larger than {LARGEST_FILE:,} bytes")
        rows = json.loads(path.read_text(encoding="utf-8"))["runs"]
        seals = {int(row["run"]): row["seal"] for row in rows if row.get("seal")}
        by_run = {
            run: {"digest": str(seal["digest"]), "parts": dict(seal["parts"])}
            for run, seal in seals.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CommandError(
            "--sealed: expected a digest (sha256: and 64 hexadecimal digits), or a file of "
            f"verify --seal --json; {text!r} is neither: {reason}"
        ) from None
    if not by_run:
        raise CommandError(f"--sealed: {path} holds no seal")
    return KeptSeals(by_run=by_run)


class Command(BaseCommand):
    help = (
        "Replay ended trajectories from their stored replies and compare the results with what "
        "is stored. Nobody is asked and nothing is written. Exits with 1 if anything differs, "
        "and with 2 if something cannot be verified."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, metavar="RUN", help="number of a run")
        parser.add_argument("--all", action="store_true", help="every run")
        parser.add_argument(
            "--since", metavar="TIME", help="only trajectories that ended since, such as 2026-11-01"
        )
        parser.add_argument(
            "--seal", action="store_true", help="print a digest of all that is stored of each run"
        )
        parser.add_argument(
            "--sealed",
            metavar="DIGEST|FILE",
            help="compare with the digest of a run, or with a file that --seal --json wrote",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        since = read_time(options["since"]) if options["since"] else None
        kept = read_seals(options["sealed"]) if options["sealed"] else None
        if since and (options["seal"] or kept):
            raise CommandError("a seal is of whole runs: leave out --since")
        wanted = options["runs"]
        if kept is not None and not wanted and not options["all"]:
            wanted = sorted(kept.by_run)
        known, reports = KnownRows(), []
        runs = self._runs(wanted, options["all"], kept)
        for run in runs:
            report = verify_run(run=run, since=since, known=known)
            if options["seal"] or kept is not None:
                self._seal(run, report, kept)
            reports.append(report)
            if not options["as_json"]:
                self._say(report)
        total = _total(reports)
        if options["as_json"]:
            rows = {"runs": [report.as_json() for report in reports], "total": total}
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        elif len(reports) != 1:
            self.stdout.write(f"{len(reports)} runs: {_words(total)}")
        if any(report.differs for report in reports):
            raise CommandError("stored results differ from what follows from the replies")
        if any(report.incomplete for report in reports):
            raise CommandError("not everything could be verified", returncode=2)

    def _seal(self, run: Run, report: RunReport, kept: KeptSeals | None) -> None:
        """Add a run's seal to its report, or how it differs from the kept one."""
        seal = seal_run(run)
        difference = kept.difference(seal) if kept is not None else None
        if difference is not None:
            report.of_run.append(difference)
        elif not report.differs:
            # Nobody is to keep the seal of a run that does not follow from its log.
            report.seal = seal.as_json()

    def _runs(self, wanted: list[int], every: bool, kept: KeptSeals | None) -> list[Run]:
        if bool(wanted) == every:
            raise CommandError("name the runs to verify, or give --all")
        if kept is not None:
            unsealed = sorted({*wanted} - {*kept.by_run})
            if kept.digest and len(wanted) != 1:
                raise CommandError("a digest is of one run: name that run, or give a file of seals")
            if not kept.digest and (every or unsealed):
                raise CommandError("--sealed: name runs of the file, or none for all of them")
        rows = EVERYTHING.of(Run.objects.select_related("dataset", "agent", "experiment"))
        rows = rows.order_by("pk")
        if every:
            return list(rows)
        runs = rows.in_bulk(wanted)
        for pk in wanted:
            if pk not in runs:
                raise CommandError(f"there is no run {pk}")
        return [runs[pk] for pk in wanted]

    def _say(self, report: RunReport) -> None:
        self.stdout.write(f"run {report.run}: {_words(_total([report]))}")
        if report.missing:
            self.stdout.write(f"  not available: {report.missing}")
        for line in report.unverifiable:
            self.stdout.write(f"  not verified: {line}")
        if report.seal is not None:
            self.stdout.write(f"  seal: sha256:{report.seal['digest']}")
        if report.figures:
            self.stdout.write(f"  metrics of the run: {report.figures}")
        for difference in report.of_run:
            self._say_difference("the run", difference)
        for finding in report.findings:
            self._say_difference(f"trajectory {finding.trajectory}", finding.difference)

    def _say_difference(self, of: str, difference: StoredDifference) -> None:
        self.stdout.write(f"  {of}: {difference.where}")
        self.stdout.write(f"    stored      {difference.stored}")
        self.stdout.write(f"    {difference.label:<11} {difference.recomputed}")


def _total(reports: list[RunReport]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report.counts)
    return {
        "trajectories": sum(report.trajectories for report in reports),
        "counts": {state: counts[state] for state in STATES if counts[state]},
        "exchanges": sum(report.exchanges for report in reports),
        "turns": sum(report.turns for report in reports),
        "scores": sum(report.scores for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 2),
    }


def _words(total: dict[str, Any]) -> str:
    counts = ", ".join(f"{n} {state}" for state, n in total["counts"].items()) or "none"
    words = f"{total['trajectories']} trajectories: {counts}"
    if not total["exchanges"]:
        return words
    speed = total["exchanges"] / max(total["seconds"], 0.01)
    return (
        f"{words}; {total['exchanges']} exchanges, {total['turns']} turns and {total['scores']} "
        f"scores in {total['seconds']:.1f} s, {speed:.0f} exchanges a second"
    )
