"""Serve the fake endpoint, so that a run with endpoints can be tried without a key."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from devtools.fake_endpoint.models import MODELS
from devtools.fake_endpoint.server import FakeServer, serve

_USE = """\
Fake endpoint at {url} (Ctrl-C stops it). No key is needed.

Add it as an endpoint with this base URL and one of these models; any other name
answers as "fake" does:

{models}

What it was asked: {counts}
Try it:            curl {url}/chat/completions -d '{{"model": "fake", "messages":
                   [{{"role": "user", "content": "How do I dry a wet floor?"}}]}}'
"""


class Command(BaseCommand):
    help = "Serve a fake OpenAI-compatible endpoint on this machine, to try models without a key."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port",
            type=int,
            default=8399,
            help="port to listen on (default 8399); 0: any free port",
        )
        parser.add_argument(
            "--latency", type=float, default=0.0, help="seconds that each reply takes"
        )
        parser.add_argument(
            "--fail", type=float, default=0.0, help="share of calls that fail with 500, 0 to 1"
        )
        parser.add_argument(
            "--limit",
            type=float,
            default=0.0,
            help="share of calls that are refused with 429, 0 to 1",
        )
        parser.add_argument(
            "--stall",
            type=float,
            default=0.0,
            help="share of calls that are never answered, 0 to 1",
        )
        parser.add_argument(
            "--at-once", type=int, default=0, help="refuse with 429 beyond this many calls at once"
        )
        parser.add_argument(
            "--retry-after", default="1", help="value of Retry-After in a 429, in seconds"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            server = FakeServer(
                options["port"],
                latency=options["latency"],
                shares={
                    "500": options["fail"], "429": options["limit"], "stall": options["stall"]
                },
                at_once=options["at_once"],
                retry_after=options["retry_after"],
            )  # fmt: skip
        except OSError as error:
            raise CommandError(f"port {options['port']}: {error.strerror}") from None
        models = "\n".join(f"  {name:<14} {model.about}" for name, model in MODELS.items())
        counts = server.base_url.replace("/v1", "/counts")
        self.stdout.write(_USE.format(url=server.base_url, models=models, counts=counts))
        self.stdout.flush()
        serve(server)
