"""Files of registrations."""

import json
from typing import Any

from analysis.registrations.document import Comparison, Plan, sha256


def registration_plan(**more: Any) -> Plan:
    """A plan about agents that may or may not be there."""
    values: dict[str, Any] = {
        "title": "Careful leads", "question": "mean", "measure": "accurate",
        "comparisons": (Comparison("careful", ">", "coin"),),
        "stopping": "When all tasks are done.", "registered_at": "2026-01-02T03:04:05Z",
        "system": "adaplanbench", "dataset": "Elsewhere", "version": "1", "level": "mid",
        "condition": "standard", "agents": ("careful", "coin"), "family": 1,
    }  # fmt: skip
    return Plan(**(values | more))


def registration_file(**more: Any) -> bytes:
    """The JSON file of a registration as another server exports it."""
    document = registration_plan(**more).document
    return json.dumps({"document": document, "sha256": sha256(document)}).encode()
