"""Derive what is stored of runs anew from their logs, and say what differs."""

import json
from argparse import ArgumentParser
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.models import Run
from benchmarks.verification.checks import StoredDifference
from benchmarks.verification.services import STATES, RunReport, verify_run
from benchmarks.verification.stored_rows import KnownRows
from benchmarks.visibility import EVERYTHING


def read_time(text: str) -> datetime:
    """Return a date or a time in ISO format; where it names no zone, UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--since: expected a date such as 2026-11-22, found {text!r}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Command(BaseCommand):
    help = (
        "Replay ended trajectories from their stored replies and compare the results with what "
        "is stored. Nobody is asked and nothing is written. Exits with 1 if anything differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", nargs="*", type=int, metavar="RUN", help="number of a run")
        parser.add_argument("--all", action="store_true", help="every run")
        parser.add_argument(
            "--since", metavar="TIME", help="only trajectories that ended since, such as 2026-11-01"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        since = read_time(options["since"]) if options["since"] else None
        known, reports = KnownRows(), []
        for run in self._runs(options["runs"], options["all"]):
            found = verify_run(run=run, since=since, known=known)
            reports.append(found)
            if not options["as_json"]:
                self._say(found)
        total = _total(reports)
        if options["as_json"]:
            rows = {"runs": [found.as_json() for found in reports], "total": total}
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        elif len(reports) != 1:
            self.stdout.write(f"{len(reports)} runs: {_words(total)}")
        if any(found.differs for found in reports):
            raise CommandError("stored results differ from what follows from the replies")

    def _runs(self, wanted: list[int], every: bool) -> list[Run]:
        if bool(wanted) == every:
            raise CommandError("name the runs to verify, or give --all")
        rows = EVERYTHING.of(Run.objects.select_related("dataset")).order_by("pk")
        if every:
            return list(rows)
        found = rows.in_bulk(wanted)
        for pk in wanted:
            if pk not in found:
                raise CommandError(f"there is no run {pk}")
        return [found[pk] for pk in wanted]

    def _say(self, found: RunReport) -> None:
        self.stdout.write(f"run {found.run}: {_words(_total([found]))}")
        if found.missing:
            self.stdout.write(f"  not available: {found.missing}")
        if found.figures:
            self.stdout.write(f"  metrics of the run: {found.figures}")
        for difference in found.of_run:
            self._say_difference("the run", difference)
        for finding in found.findings:
            self._say_difference(f"trajectory {finding.trajectory}", finding.difference)

    def _say_difference(self, of: str, difference: StoredDifference) -> None:
        self.stdout.write(f"  {of}: {difference.where}")
        self.stdout.write(f"    stored      {difference.stored}")
        self.stdout.write(f"    recomputed  {difference.recomputed}")


def _total(reports: list[RunReport]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for found in reports:
        counts.update(found.counts)
    return {
        "trajectories": sum(found.trajectories for found in reports),
        "counts": {state: counts[state] for state in STATES if counts[state]},
        "exchanges": sum(found.exchanges for found in reports),
        "turns": sum(found.turns for found in reports),
        "scores": sum(found.scores for found in reports),
        "seconds": round(sum(found.seconds for found in reports), 2),
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
