"""docs/api.md: its calls, made in the order of the page with curl, work in the shipped demo."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.api.test_docs import BLOCKS, TEXT, curls
from tests.config.test_package import first_page
from tests.installations import Install
from tests.servers import free_port

# A person types more slowly than a script: a call that waits for a job is tried again.
CURL = r"""
curl() {
  for _ in {1..90}; do
    status=$(command curl -sS -w '%{stderr}%{http_code}' "$@" 2>&1 >"$ANSWER")
    case $status$NEEDS_MORE in 2* | *yes) break;; esac
    sleep 1
  done
  echo "$status" >&2
  cat "$ANSWER"
}
"""
CALL = re.compile(
    r'^(?:\w+=\$\()?curl .*?(?:-X (?P<method>\w+) .*?)?"\$PLANJURY/api/v1(?P<path>[^"?]+)',
    re.MULTILINE,
)


def walk() -> tuple[str, list[str]]:
    """The page's shell examples as a script, and the method and path of each call."""
    lines, calls = [CURL], []
    for kind, block in BLOCKS:
        if kind or "$PLANJURY/" not in block:
            continue
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if call := CALL.match(line):
                calls.append(f"{call['method'] or 'GET'} {call['path']}")
                lines.append(f"NEEDS_MORE={'yes' if calls[-1] in excepted() else ''}")
            lines.append(line)
    return "\n".join(lines), calls


def excepted() -> list[str]:
    """The examples that the page says need more than the demo."""
    table = TEXT[TEXT.index("| example | what must be") : TEXT.index("export PLANJURY=")]
    return re.findall(r"^\| `(.+?)`", table, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_the_examples_work_in_the_order_of_the_page(install: Install, tmp_path: Path) -> None:
    script, calls = walk()
    place = install("new", migrated=False)
    port, fake = free_port(), free_port()
    place.start("manage.py", "fake_endpoint", "--port", str(fake))
    place.start("manage.py", "serve", PLANJURY_DEMO="1", PORT=str(port))
    first_page(f"http://localhost:{port}/accounts/login/")
    tokens = {}
    for name, account in [("TOKEN", "researcher"), ("ANNOTATOR", "annotator"), ("ADMIN", "admin")]:
        place.start("manage.py", "api_token", account, "--name", name).wait(timeout=120)
        tokens[name] = re.findall(r"\bpj_[\w-]+", place.log.read_text())[-1]
    walked = subprocess.run(
        ["bash", "-c", script.replace(":8399/", f":{fake}/")],
        cwd=tmp_path,
        env=os.environ
        | tokens
        | {"PLANJURY": f"http://localhost:{port}", "ANSWER": str(tmp_path / "answer")},
        capture_output=True,
        text=True,
        timeout=900,
    )
    statuses = walked.stderr.split()
    assert len(statuses) == len(calls) == len(curls()), walked.stderr
    refused = [
        call for call, status in zip(calls, statuses, strict=True) if not status.startswith("2")
    ]
    assert sorted(refused) == sorted(excepted()), walked.stderr
