"""What the server command asks of the apps. They are imported when first needed, not at start."""

import importlib
import logging
from collections.abc import Callable
from typing import Any

logger = logging.getLogger(__name__)


def sweep_jobs() -> None:
    """Ring again for jobs that a dead worker held or that nobody began."""
    sweep = _service("benchmarks.services.jobs", "sweep")
    if sweep is not None:
        sweep()


def ensure_demo() -> list[tuple[str, str, str]]:
    """Fill an empty database with the demo; its accounts as (name, password, role)."""
    ensure = _service("benchmarks.services.demo", "ensure_demo")
    return [] if ensure is None else list(ensure())


def _service(module: str, name: str) -> Callable[[], Any] | None:
    # Temporary: until both modules exist, a missing one counts as nothing to do.
    # Then this function goes, and the two above import what they call.
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        logger.debug("%s is not there yet.", module)
        return None
    return found
