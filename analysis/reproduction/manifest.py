"""The parts of a manifest: runs, product and metrics."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version as version_of
from typing import Any

from django.db.models import Count

from analysis.exports.report_file import FileSection
from analysis.reports.content import Banner
from analysis.reproduction.presets import known_presets
from benchmarks.comparability.certificates import run_certificates
from benchmarks.core import plugins
from benchmarks.core.registry import get_system
from benchmarks.experiments.design import Design
from benchmarks.models import Judging, Run
from benchmarks.roles.cautions import run_caution
from benchmarks.runs.selectors import run_metrics
from benchmarks.source_digest import sealed_plug_in, source_digest

PACKAGES = ("Django", "numpy", "scipy", "pandas")


def metrics_of(design: Design, preset: str, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the metrics of every run, and what the paper reports of the same metrics."""
    published = get_system(runs[0].dataset.system).published
    sources = known_presets()[preset].sources if preset in known_presets() else ()
    return {
        "preset": preset,
        "design_digest": design.digest,
        "runs": [
            {**run_metrics(run), "label": _label(run), "comparability": _comparability(run)}
            for run in runs
        ],
        "published": [
            {"model": one.model, "metric": one.metric, "value": one.value, "printed": one.printed,
             "error": one.error, "n": one.n, "source": one.source, "note": one.note}
            for one in published
            if one.source in sources
        ],
    }  # fmt: skip


def run_record(run: Run) -> dict[str, Any]:
    """Return everything that a run was made with, and what of it is not in the metrics."""
    judging = run.primary_judging
    counts = run.trajectories.values_list("status").annotate(n=Count("pk")).order_by("status")
    return {
        "id": run.pk,
        "experiment": run.experiment_id,
        "kind": run.kind,
        "status": run.status,
        "agent": {"name": run.agent.name, "title": run.agent.title, "kind": run.agent.kind},
        "level": run.level,
        "condition": run.condition,
        "settings": run.settings,
        "roles": run.roles,
        "seed": run.seed,
        "pins": run.pins,
        "judging": _judging(judging) if judging is not None else None,
        "trajectories": dict(counts),
        "excluded": _excluded(run_metrics(run)),
        "cost": {"amount": run.committed, "cap": run.cost_cap, "currency": run.currency},
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "label": _label(run),
        "comparability": _comparability(run),
    }


def _comparability(run: Run) -> list[dict[str, Any]]:
    """Return how the run compares with the setting of published figures."""
    return [one.as_json() for one in run_certificates(run)]


def _label(run: Run) -> str:
    """Return the notice on a run that is scripted, simulated or demo data; else nothing."""
    caution = run_caution(run)
    return caution.title if caution is not None else ""


def _judging(judging: Judging) -> dict[str, Any]:
    """Return the judging that counts and, after a re-judging, the run that made it."""
    return {"id": judging.pk, "name": judging.name, "made_by": judging.made_by_id}


def _excluded(metrics: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the number of trajectories excluded from each metric, by reason."""
    excluded = {name: metric["excluded"] for name, metric in metrics["metrics"].items()}
    return {name: dict(reasons) for name, reasons in excluded.items() if reasons}


def banners_of(sections: Sequence[FileSection]) -> tuple[Banner, ...]:
    """Return everything that is not the real thing, each once."""
    every = [mark for one in sections for mark in one.banners]
    every += [mark for one in sections if one.report for mark in one.report.banners]
    return tuple(dict.fromkeys(every))


def product_now() -> dict[str, Any]:
    """Return versions of the platform, and a digest of the code that needs no repository."""
    return {
        "code_sha256": source_digest(),
        "plug_ins": [sealed_plug_in(plug_in) for plug_in in plugins.loaded],
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in PACKAGES},
    }
