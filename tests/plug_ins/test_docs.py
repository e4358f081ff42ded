"""The examples in the docs are those that the tests install and use."""

import re
from pathlib import Path

from django.conf import settings

PACKAGE = Path(__file__).parent / "package"


def test_the_docs_show_the_package() -> None:
    page = (settings.BASE_DIR / "docs" / "plug-ins.md").read_text()
    (project,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    assert project.strip() in (PACKAGE / "pyproject.toml").read_text()
    (code,) = re.findall(r"```python\n(.+?)```", page, re.DOTALL)
    assert code == (PACKAGE / "toy_plug_ins" / "turn_lengths.py").read_text()
