"""Measure how the code is cut: files, sizes, import circles, and what one request passes through.

``python -m tests.structure`` prints the table; ``--json`` prints it for a program. ``--tests`` adds
the minutes of ``make test``, ``--bench`` the figures of each script of ``make bench`` with the CPU
that it took; together they take about half an hour.

Production code is everything in config, benchmarks, annotation and analysis but migrations. A line
of code is one that holds more than a comment or a docstring. Requests run on the
recorded world of ``tests/golden``, through Django's test client; a switch is a call from one
production file into another.

**Always opened together.** A file counts as always opened with its importer, so that both should be
one, when all of this holds:

- one production file imports it, and both lie in the same folder;
- neither is found by its name (``FOUND_BY_NAME``: what Django looks for, and the parts that every
  feature has), and the importer is no list of a folder's files (``LISTS``);
- it has under 40 lines of code, or both together have at most 200, or at least three commits
  changed it and three quarters of those changed its importer too (a commit that touches more than
  60 files of Python is a sweep and does not count);
- both together have at most 400 lines of code, above which a file holds more than one idea.

What stays as it is all the same (a file, a full folder, a name) has its reason in
``docs/decisions/files-and-names.md``.

**One name, one class.** Counted are classes at the top level of a module, but ``Command``, the name
that Django asks for. A value of ``benchmarks/core`` and the row that stores it share a name on
purpose, because they are one idea.
"""

import argparse
import ast
import html
import io
import json
import lzma
import os
import re
import resource
import statistics
import subprocess
import sys
import time
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

BASE = Path(__file__).parent.parent
APPS = ("config", "benchmarks", "annotation", "analysis")
SMALL, LARGE, FULL = 40, 600, 20
# Of files that are opened together: lines of a small pair, and of a pair that makes a whole file.
PAIR, WHOLE = 200, 400
CHANGED_TOGETHER, LEAST_COMMITS, SWEEP = 0.75, 3, 60
# What gathers the files of a folder; so does any other *urls.py.
LISTS = {
    "__init__.py",
    "apps.py",
    "base.py",
    "build.py",
    "catalogue.py",
    "commands.py",
    "registry.py",
    "system.py",
    "urls.py",
}
FOUND_BY_NAME = LISTS | {
    "admin.py",
    "forms.py",
    "models.py",
    "selectors.py",
    "services.py",
    "settings.py",
    "tasks.py",
    "views.py",
}
FOUND_BY_FOLDER = {"commands", "migrations", "templatetags"}
REASON_GIVEN = " (reason in docs/decisions)"
REASONS = BASE / "docs" / "decisions" / "files-and-names.md"
# What Django, its templates and SQLite's driver do not document; ``_state.adding``, ``_state.db``
# and ``as_sql`` of an expression are documented.
UNDOCUMENTED = re.compile(
    r"\b(?:_meta\.(?:local|concrete|private|_)\w*|sql_with_params|_do_\w+|_raw_delete|SQLCompiler|"
    r"get_compiler|execute_sql|_perform_\w+|_prefetched_objects_cache|_result_cache|"
    r"_start_transaction_under_autocommit|debug_transaction|"
    r"_state\.(?!adding|db\b)|_wrapped|_resolve_lookup|template\.nodelist|nodelist\.render|"
    r"gc\.freeze|_thread_sharing|_connections)\b"
)
SKIPPED_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def production_files() -> list[Path]:
    """Return the production files, without empty ``__init__.py``."""
    found = (path for app in APPS for path in (BASE / app).rglob("*.py"))
    return sorted(p for p in found if "migrations" not in p.parts and p.read_text().strip())


def code_lines(source: str) -> int:
    """Return how many lines hold code: comments, blanks and docstrings apart."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SKIPPED_TOKENS:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def import_graph(files: list[Path]) -> dict[str, set[str]]:
    """Return which production module imports which, whether at its top or in a function."""
    names = {module_name(path): path for path in files}
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        graph[name] = {one for one in found if one in names and one != name}
    return graph


def module_name(path: Path) -> str:
    """Return the dotted name of a production file."""
    parts = path.relative_to(BASE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another (Tarjan's strong components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == name:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        for name in graph:
            if name not in index:
                visit(name)
    finally:
        sys.setrecursionlimit(limit)  # other tests rely on it
    return found


def commits_by_file() -> dict[str, set[int]]:
    """Return the commits that changed each file, through its renames; empty without a history."""
    command = ["git", "-C", str(BASE), "log", "-M", "--name-status", "--format=tformat:@"]
    log = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    today: dict[str, str] = {}  # a former path and the one it has now
    changed: dict[str, set[int]] = defaultdict(set)
    for number, commit in enumerate(log.split("@\n")):
        rows = [line.split("\t") for line in commit.splitlines() if line.endswith(".py")]
        renamed = {}
        for status, *paths in rows:
            path = today.get(paths[-1], paths[-1])
            if len(rows) <= SWEEP and status != "R100":
                changed[path].add(number)
            if status.startswith("R"):
                renamed[paths[0]] = path
        today |= renamed
    return changed


def _reasons() -> str:
    return REASONS.read_text() if REASONS.exists() else ""


def opened_together(sizes: Mapping[Path, int], graph: Mapping[str, set[str]]) -> list[str]:
    """Return the files that are always opened with their importer, as this module defines it."""
    paths = {module_name(path): path for path in sizes}
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, imported in graph.items():
        for name in imported:
            importers[name].add(importer)
    changed, found = commits_by_file(), []
    reasons = _reasons()
    for name, by in sorted(importers.items()):
        path, other = paths[name], paths[min(by)]
        if (
            len(by) > 1
            or path.parent != other.parent
            or path.parent.name in FOUND_BY_FOLDER
            or path.name in FOUND_BY_NAME
            or other.name in LISTS
            or other.name.endswith("urls.py")
            or sizes[path] + sizes[other] > WHOLE
        ):
            continue
        commits, others = (changed.get(str(one.relative_to(BASE)), set()) for one in (path, other))
        share = len(commits & others) / len(commits) if len(commits) >= LEAST_COMMITS else 0.0
        if sizes[path] < SMALL or sizes[path] + sizes[other] <= PAIR or share >= CHANGED_TOGETHER:
            inner = str(path.relative_to(BASE))
            told = REASON_GIVEN if f"`{inner}`" in reasons else ""
            found.append(f"{inner} ({sizes[path]}) ← {other.name} ({sizes[other]}){told}")
    return found


def repeated_classes(files: list[Path]) -> list[str]:
    """Return the names of more than one class, with their files, as this module defines it."""
    places: dict[str, set[str]] = defaultdict(set)
    for path in files:
        for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE):
            places[name].add(str(path.relative_to(BASE)))
    found, reasons = [], _reasons()
    for name, paths in sorted(places.items()):
        stored = {one for one in paths if one.startswith("benchmarks/models/")}
        values = {one for one in paths if one.startswith("benchmarks/core/")}
        different = paths - values if stored and len(values) == 1 else paths
        if len(different) > 1 and name != "Command":
            told = REASON_GIVEN if f"`{name}`" in reasons else ""
            found.append(f"{name}: {', '.join(sorted(different))}{told}")
    return found


def folder_circles(graph: Mapping[str, set[str]]) -> dict[str, list[list[str]]]:
    """Return, for each app, the groups of its folders and files that reach each other.

    Looked at is what an app holds directly: its folders, and the files beside them.
    """
    found = {}
    for app in APPS:
        folders: dict[str, set[str]] = defaultdict(set)
        for name, imported in graph.items():
            if name.startswith(f"{app}."):
                here = name.split(".")[1]
                inside = (other for other in imported if other.startswith(f"{app}."))
                folders[here] |= {other.split(".")[1] for other in inside} - {here}
        found[app] = circles(folders)
    return found


def measure_files() -> dict[str, Any]:
    """Return what can be counted from the files alone."""
    files = production_files()
    sizes = {path: code_lines(path.read_text()) for path in files}
    graph = import_graph(files)
    importers = Counter(other for found in graph.values() for other in found)
    folders = Counter(path.parent for path in files if path.name != "__init__.py")
    sources = "\n".join(path.read_text() for path in files)
    reasons = _reasons()
    return {
        "production files": len(files),
        "lines of code": sum(sizes.values()),
        "median lines of a file": statistics.median(sizes.values()),
        f"files under {SMALL} lines": sum(n < SMALL for n in sizes.values()),
        f"files over {LARGE} lines": sorted(
            f"{path.relative_to(BASE)} ({n})" for path, n in sizes.items() if n > LARGE
        ),
        "files with one importer": sum(n == 1 for n in importers.values()),
        "of them always opened with it": opened_together(sizes, graph),
        f"folders with over {FULL} files": sorted(
            f"{(inner := folder.relative_to(BASE))} ({n})"
            f"{REASON_GIVEN if f'`{inner}/`' in reasons else ''}"
            for folder, n in folders.items()
            if n > FULL
        ),
        "import circles": circles(graph),
        "folders that reach each other": [
            group for groups in folder_circles(graph).values() for group in groups
        ],
        "class names used more than once": repeated_classes(files),
        "uses of mark_safe": len(re.findall(r"\bmark_safe\(", sources)),
        "undocumented internals": [
            f"{(name := path.relative_to(BASE))}: {', '.join(sorted(set(found)))}"
            f"{REASON_GIVEN if f'`{name}`' in reasons else ''}"
            for path in files
            if (found := UNDOCUMENTED.findall(path.read_text()))
        ],
        "scripts of the browser": len(list((BASE / "static" / "js").rglob("*.js"))),
        "pages of docs": len(list((BASE / "docs").rglob("*.md"))),
        "test files": len(list((BASE / "tests").rglob("test_*.py"))),
    }


class Trace:
    """Counts the production files that a request passes through, and the switches between them."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.switches = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        here = _production(frame.f_code.co_filename)
        if here is None:
            return
        self.files.add(here)
        caller = frame.f_back
        while caller is not None:
            there = _production(caller.f_code.co_filename)
            if there is not None:
                self.switches += there != here
                return
            caller = caller.f_back

    def of(self, request: Callable[[], Any]) -> dict[str, int]:
        sys.setprofile(self)
        try:
            answer = request()
        finally:
            sys.setprofile(None)
        assert answer.status_code < 400, (answer.status_code, answer.content[:400])
        return {"files": len(self.files), "switches": self.switches}


def _production(name: str) -> str | None:
    if not name.startswith(str(BASE)):
        return None
    inner = name[len(str(BASE)) + 1 :]
    return inner if inner.startswith(tuple(f"{app}/" for app in APPS)) else None


def measure_requests() -> dict[str, dict[str, int]]:
    """Return files and switches of requests, on the world that golden reports are about."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    import django
    from django.conf import settings

    # Not a database of an earlier version: a live session goes on only with the scripts it began.
    recorded = lzma.decompress(
        (BASE / "tests" / "golden" / "data" / "world.sqlite3.xz").read_bytes()
    )
    (settings.DATA_DIR / "planjury.sqlite3").write_bytes(recorded)
    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    return {name: Trace().of(request) for name, request in _requests()}


def _requests() -> Iterator[tuple[str, Callable[[], Any]]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    from analysis.pages.catalogue import load_reports
    from config.celery import app
    from tests.annotators import SCALES, SETTINGS, make_edit

    def signed_in(name: str) -> Client:
        client = Client(headers={"host": "localhost"})
        client.force_login(get_user_model().objects.get(username=name))
        return client

    person, researcher = signed_in("annotator"), signed_in("researcher")
    person.post("/studies/1/guidelines/")
    opened = person.get("/studies/1/annotate/", follow=True)
    text = opened.content.decode()
    yield "opening an item", lambda: person.get(opened.request["PATH_INFO"])
    found = SETTINGS.search(text)
    assert found is not None
    edits = [make_edit(SCALES.findall(text)[0], 3)]
    yield (
        "a click",
        lambda: person.post(
            json.loads(found[1])["answers"],
            json.dumps({"edits": edits, "activeMs": 1}),
            content_type="application/json",
        ),
    )
    form = researcher.get("/runs/new/?dataset=1").context["form"]
    values = {
        field.html_name: field.value() for field in form if field.value() not in (None, False)
    }
    values |= {"agents": "coin-flipper", "levels": "low"}
    app.conf.task_always_eager = False
    yield "starting a run", lambda: researcher.post("/runs/new/", values)
    load_reports()  # modules are loaded once, not by each page
    yield "a fresh agreement page", lambda: researcher.get("/analysis/agreement/")
    yield "a fresh leaderboard", lambda: researcher.get("/analysis/leaderboard/?dataset=1")
    app.conf.task_always_eager = True
    person.post("/sessions/1/ready/")
    deadline = time.monotonic() + 120  # the agent replies in a thread of the worker
    while time.monotonic() < deadline:
        page = person.get("/sessions/1/").content.decode()
        reply = re.search(r'<form[^>]*action="([^"]*/reply/[^"]*)".*?</form>', page, re.DOTALL)
        if reply is not None:
            break
        time.sleep(0.1)
    else:
        words = " ".join(re.sub(r"<[^>]+>", " ", page.partition("<main")[2]).split())
        raise RuntimeError(
            f"no reply form in session 1 within two minutes; it shows: {words[:400]}"
        )
    app.conf.task_always_eager = False
    suggested = re.search(r'data-fill-text="([^"]+)"', reply[0])
    fields = {"from_fields": "1", "text": html.unescape(suggested[1]) if suggested else "No."}
    yield "a live reply", lambda: person.post(reply[1], fields)


def measure_tests() -> float:
    """Return the minutes that ``make test`` takes; it has to pass."""
    start = time.monotonic()
    subprocess.run(["make", "test"], cwd=BASE, check=True, stdout=subprocess.DEVNULL)
    return round((time.monotonic() - start) / 60, 1)


def measure_bench() -> dict[str, list[str]]:
    """Return what each script of ``make bench`` prints, headed by the CPU that it took."""
    found = {}
    for script in sorted((BASE / "tests" / "bench").glob("[!_]*.py")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(
            [sys.executable, str(script)],
            cwd=BASE,
            env=os.environ | {"PYTHONPATH": str(BASE)},
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        within = "" if ran.returncode == 0 else ", outside its budget"
        lines = (ran.stdout + (ran.stderr if ran.returncode else "")).splitlines()
        found[script.stem] = [f"{cpu:.0f} s of CPU{within}", *lines]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-requests", action="store_true")
    parser.add_argument("--tests", action="store_true", help="add the minutes of make test")
    parser.add_argument("--bench", action="store_true", help="add the figures of make bench")
    options = parser.parse_args()
    found = measure_files()
    if not options.no_requests:
        found["requests"] = measure_requests()
    if options.tests:
        found["minutes of make test"] = measure_tests()
    if options.bench:
        found["make bench"] = measure_bench()
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        if name == "requests":
            for request, counts in value.items():
                print(f"{request}: {counts['files']} files, {counts['switches']} switches")
        elif name == "make bench":
            for script, lines in value.items():
                print(f"bench {script}: {lines[0]}")
                for line in lines[1:]:
                    print(f"    {line}")
        elif isinstance(value, list):
            print(f"{name}: {len(value)}")
            for one in value:
                print(f"    {one if isinstance(one, str) else ' ⇄ '.join(one)}")
        else:
            print(f"{name}: {value:,}")


if __name__ == "__main__":
    main()
