"""Certify datasets: what their references solve, and what blind policies score on them."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import Dataset
from benchmarks.validity.selectors import CertifiedValidity, current_certificate
from benchmarks.validity.services import (
    certify_dataset,
    content_digest,
    dataset_trials,
    is_certifiable,
)
from benchmarks.validity.trials import certificate_content


class Command(BaseCommand):
    """``certify DATASET…``: play what certificates of validity state, and store them."""

    help = (
        "Certify datasets: which tasks their own reference solves, what blind policies score, and "
        "how much assumptions and the form of an answer decide. No model is asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "datasets", nargs="*", metavar="DATASET", help="id, NAME, or NAME@VERSION"
        )
        parser.add_argument("--all", action="store_true", help="every dataset agents rank on")
        parser.add_argument(
            "--check", action="store_true",
            help="play stored certificates again and compare; exits with 1 where one differs",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        printed, differing, lacking = [], [], []
        for dataset in self._datasets(options["datasets"], options["all"]):
            try:
                certificate = current_certificate(dataset)
                if options["check"]:
                    if certificate is None:
                        lacking.append(str(dataset))
                        continue
                    if not self._is_same(dataset, certificate):
                        differing.append(str(dataset))
                certificate = certificate or certify_dataset(dataset, dataset_trials(dataset))
            except CoreError as error:
                raise CommandError(str(error)) from None
            printed.append((dataset, certificate))
        if options["as_json"]:
            rows = [self._as_json(dataset, certificate) for dataset, certificate in printed]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        else:
            for dataset, certificate in printed:
                self._say(dataset, certificate)
        faults = [
            *(f"{name} has no certificate to check" for name in lacking),
            *(f"the certificate of {name} differs when played again" for name in differing),
        ]
        if faults:
            raise CommandError("\n".join(faults))

    def _datasets(self, names: list[str], every: bool) -> list[Dataset]:
        if bool(names) == every:
            raise CommandError("name the datasets to certify, or give --all")
        if every:
            rows = Dataset.objects.filter(removed_at=None).order_by("pk")
            return [dataset for dataset in rows if is_certifiable(dataset)]
        try:
            return [find_dataset(name) for name in names]
        except CoreError as error:
            raise CommandError(str(error)) from None

    def _is_same(self, dataset: Dataset, certificate: CertifiedValidity) -> bool:
        """Return whether a certificate is what follows from its dataset when played again."""
        content = certificate_content(dataset_trials(dataset))
        return content_digest(dataset, certificate.row.versions, content) == certificate.row.digest

    def _as_json(self, dataset: Dataset, certificate: CertifiedValidity) -> dict[str, Any]:
        return {"dataset": str(dataset), **certificate.summary()}

    def _say(self, dataset: Dataset, certificate: CertifiedValidity) -> None:
        """Print a certificate as a Markdown table with sentences."""
        titles = [measure.title for measure in certificate.measures.values()]
        self.stdout.write(f"## {dataset} ({certificate.system.title})\n")
        self.stdout.write(
            f"{certificate.usable_words}. {certificate.bracket_words} {certificate.form_words}\n"
        )
        self.stdout.write(f"| blind policy | {' | '.join(titles)} | n |")
        self.stdout.write(f"|---|{'---|' * (len(titles) + 1)}")
        for row in certificate.blind_rows():
            values = [
                "undefined" if value is None else measure.words(value)
                for measure, value, _ in row.values
            ]
            self.stdout.write(f"| {row.policy.title} | {' | '.join(values)} | {row.n} |")
        self.stdout.write(f"\nCertificate {certificate.row.digest}\n")
