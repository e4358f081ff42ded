"""Play recordings of a reference runtime through our own, and say where they part."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError, UnknownName
from devtools.recordings.replay import replay_recordings

# What replays recordings, by the key of the system.
REPLAYERS = {"planbench_xl": replay_recordings}


class Command(BaseCommand):
    """``replay_recordings SYSTEM RUNS --data FOLDER``: exit code 1 where something differs."""

    # The checks load every page; none is needed here.
    requires_system_checks = ()
    help = "Replay recorded actions here and compare the results with the recorded ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("system", help="key of a system, such as planbench_xl")
        parser.add_argument("runs", type=Path, help="recordings as JSON lines, plain or .gz")
        parser.add_argument("--data", type=Path, required=True, help="folder of the dataset")
        parser.add_argument(
            "--tool-index",
            type=Path,
            metavar="FILE",
            help="JSON list of tool names, plain or .gz, for recordings with numbers for tools",
        )
        parser.add_argument(
            "--conditions",
            type=Path,
            metavar="FILE",
            help='JSON object of further conditions: name → {"base": a published condition, '
            '"override": {knob of the reference: value}}',
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["system"] not in REPLAYERS:
                raise UnknownName("system with recordings", options["system"], sorted(REPLAYERS))
            replay = REPLAYERS[options["system"]](
                options["runs"],
                options["data"],
                tool_index=options["tool_index"],
                conditions=options["conditions"],
            ).record()
        except CoreError as error:
            raise CommandError(str(error)) from None
        for warning in replay["warnings"]:
            self.stderr.write(f"warning: {warning}")
        if options["as_json"]:
            self.stdout.write(json.dumps(replay, indent=2, ensure_ascii=False))
        else:
            self._tell(replay)
        if replay["mismatches"]:
            sys.exit(1)

    def _tell(self, replay: dict[str, Any]) -> None:
        self.stdout.write(
            f"{replay['episodes']} episodes: {replay['matches']} agree in all of their steps, "
            f"{replay['mismatches']} differ, {replay['not_replayable']} cannot be replayed here "
            f"({replay['steps']} steps replayed)"
        )
        for reason, count in replay["not_replayable_because"].items():
            self.stdout.write(f"  not replayable: {count} {reason}")
        for difference in replay["differences"]:
            self.stdout.write(
                f"  {difference['episode']}, step {difference['step']}, {difference['field']}: "
                f"recorded {difference['recorded']!r}, replayed {difference['replayed']!r}"
            )
