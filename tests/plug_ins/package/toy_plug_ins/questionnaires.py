"""Questionnaires: each is a YAML file, named by its path."""

from pathlib import Path

INTERFACE = 1
BOLDNESS = Path(__file__).parent / "boldness.v1.yaml"
