"""Build the documentation as a site: ``make docs`` writes it to ``site/``.

The product serves it. Its pages are README.md, docs/ and what they link to, each command's
``--help``, and the reference of the HTTP API. The build fails at a link or an anchor that leads
nowhere, at a page that no other leads to, and at anything that a page would load from another host.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
# Pages of the repository that lie outside docs/, and where they go.
PLACES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CHANGELOG.md": "changelog.md",
    "client/README.md": "client.md",
    "benchmarks/systems/acpbench_hard/scoring/README.md": "systems/acpbench_hard_scoring.md",
    "docs/decisions": "decisions/index.md",
}
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
INLINE_SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
# In the script that draws a page in the palette that a reader chose.
READS_PALETTE = '__md_get("__palette")'
APPS = {
    "config": "Commands of the server",
    "benchmarks": "Commands for benchmarks and runs",
    "annotation": "Commands for studies and accounts",
    "analysis": "Commands for analysis",
    "devtools": "Commands for development",
    "django": "Commands of Django",
}


def main(target: Path) -> None:
    """Build the site from the sources, and put it in the place of the one before."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        start_django(stage)
        stage_sources(stage / "docs")
        for name, text in generated_pages().items():
            write(stage / "docs" / name, text)
        build(stage)
        finish(stage / "site")
        if faults := list(faults_of(stage / "site")):
            sys.exit("The documentation is not built:\n" + "\n".join(faults))
        put(stage / "site", target)
    print(f"{target}: {len(list(target.rglob('*.html')))} pages")


def start_django(data: Path) -> None:
    """Load the product as an installation without any settings of its own would."""
    for name in [name for name in os.environ if name.startswith("PLANJURY_")]:
        del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings.production",
        "PLANJURY_DATA_DIR": str(data / "data"),
        "PLANJURY_SECRET_KEY": "not used: nothing is served",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def write(path: Path, text: str) -> None:
    """Write a file of the stage, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# --- Pages that are written by hand ---------------------------------------------------------------


def stage_sources(target: Path) -> None:
    """Copy the pages to their places, with links that fit these, and add the look."""
    shutil.copytree(ROOT / "docs" / "images", target / "images")
    shutil.copytree(ROOT / "static" / "fonts", target / "fonts")
    for name in ("static/css/fonts.css", "static/css/tokens.css", "docs/site/site.css"):
        # A reader stays on a page; it may draw itself again when the typeface arrives.
        text = (ROOT / name).read_text().replace("font-display: optional", "font-display: swap")
        write(target / "css" / Path(name).name, text)
    shutil.copy(ROOT / "static" / "img" / "logo.svg", target / "images")
    shutil.copy(ROOT / "docs" / "site" / "zensical.toml", target.parent)
    places = places_of_pages()
    for source, place in places.items():
        if source.is_file():
            write(target / place, with_moved_links(source, places, target))


def places_of_pages() -> dict[Path, str]:
    """Return where each page of the repository goes, by its path."""
    places = {ROOT / source: place for source, place in PLACES.items()}
    for page in (ROOT / "docs").rglob("*.md"):
        places[page] = page.relative_to(ROOT / "docs").as_posix()
    for page in (ROOT / "benchmarks" / "systems").glob("*/README.md"):
        places[page] = f"systems/{page.parent.name}.md"
    return places


def with_moved_links(source: Path, places: dict[Path, str], target: Path) -> str:
    """Return a page whose links lead to the places of what they name.

    A file that is no page is copied beside the pages. A folder has no page: its link becomes words.
    """
    base = (target / places[source]).parent

    def moved(match: re.Match[str]) -> str:
        words, link = match.groups()
        path, _, anchor = link.partition("#")
        if not path or urlsplit(link).scheme:
            return match[0]
        named = (source.parent / path).resolve()
        if named in places:
            place = places[named]
        elif named.is_file():
            place = named.relative_to(ROOT).as_posix().removeprefix("docs/")
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(named, target / place)
        else:
            return words
        return f"[{words}]({os.path.relpath(target / place, base)}{'#' * bool(anchor)}{anchor})"

    parts = FENCE.split(source.read_text(encoding="utf-8"))
    return "".join(part if n % 2 else LINK.sub(moved, part) for n, part in enumerate(parts))


# --- Pages that are made from the code ------------------------------------------------------------


def generated_pages() -> dict[str, str]:
    """Return the pages that nobody writes, by their places."""
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    listed = [f"* [{page.read_text().splitlines()[0][2:]}]({page.name})" for page in decisions]
    return {
        "decisions/index.md": "\n".join(["# Decisions and their reasons", "", *listed, ""]),
        "api-reference.md": api_reference(),
        **{f"commands/{app}.md": command_page(app) for app in APPS},
    }


def command_page(app: str) -> str:
    """Return the page with what each command of an app prints for ``--help``."""
    from django.core.management import get_commands, load_command_class

    lines = [f"# {APPS[app]}", "", "`planjury NAME`, or `manage.py NAME` in a checkout.", ""]
    for name, owner in sorted(get_commands().items()):
        if (owner if owner in APPS else "django") != app:
            continue
        command = load_command_class(owner, name)
        lines += [f"## {name}", ""]
        for parser in parsers_of(command.create_parser("planjury", name)):
            lines += ["```text", parser.format_help().strip(), "```", ""]
    return "\n".join(lines)


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a command's parser, and those of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers_of(inner)


def api_reference() -> str:
    """Return the page on every route of the HTTP API, from its OpenAPI description."""
    from benchmarks.api.reference import sections
    from config.urls import api

    lines = [
        "# API reference",
        "",
        "Made from the OpenAPI description that a server has at `/api/v1/openapi.json`. "
        "[Use the HTTP API](api.md) explains tokens, lists in pages and repeated requests.",
        "",
    ]
    for tag, operations in sections(api.get_openapi_schema()).items():
        lines += [f"## {tag}", ""]
        for one in operations:
            lines += [f"### {one.method} {one.path}", "", one.about, ""]
            rows = [
                (
                    f"`{field.name}`{' (required)' * field.required}",
                    field.where,
                    field.kind,
                    field.about,
                )
                for field in one.fields
            ]
            lines += table(("Field", "In", "Takes", "Meaning"), rows)
            for schema in one.schemas:
                fields = [(f"`{field.name}`", field.kind, field.about) for field in schema.fields]
                inside = [schema.about, "", *table(("Field", "Holds", "Meaning"), fields)]
                inside += ["```json", *schema.example.splitlines(), "```"]
                lines += [f'??? note "{schema.title}"', "", *(f"    {line}" for line in inside), ""]
            answers = "; ".join(f"**{status}** {what}" for status, what in one.answers)
            lines += [f"Answers: {answers}.", ""]
    return re.sub(r"\bdocs/([a-z-]+\.md)\b", r"[\g<0>](\1)", "\n".join(lines))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; none without rows."""
    if not rows:
        return []
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)] + [""]


# --- The site -------------------------------------------------------------------------------------


def build(stage: Path) -> None:
    """Have Zensical make HTML of the pages; it checks links and anchors between them."""
    zensical = Path(sys.executable).with_name("zensical")
    done = subprocess.run(
        [zensical, "build", "--clean", "--strict"],
        cwd=stage,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stdout)


def finish(site: Path) -> None:
    """Move inline scripts into files, which the content security policy allows.

    The palette follows the theme that is chosen in the product. The product has its own page for
    addresses that lead nowhere.
    """
    theme = (ROOT / "docs" / "site" / "theme.js").read_text()
    for name in ("404.html", "sitemap.xml"):
        (site / name).unlink(missing_ok=True)
    licence = next(
        file for file in distribution("zensical").files or () if file.name == "LICENSE.md"
    )
    shutil.copy(licence.locate(), site / "assets" / "zensical.LICENSE.md")
    for page in site.rglob("*.html"):

        def moved(match: re.Match[str], folder: Path = page.parent) -> str:
            code = theme + match[1] if READS_PALETTE in match[1] else match[1]
            name = f"{hashlib.sha256(code.encode()).hexdigest()[:8]}.js"
            script = site / "assets" / "scripts" / name
            write(script, code)
            return f'<script src="{os.path.relpath(script, folder)}"></script>'

        # The keyboard scrolls a wide table on a narrow screen once it is there.
        text = page.read_text().replace("<table>", '<table tabindex="0">')
        page.write_text(INLINE_SCRIPT.sub(moved, text))


class Page(HTMLParser):
    """The anchors of a page, what it links to, what it loads, and the scripts inside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        """Note what a tag names, leads to or loads."""
        values = dict(attrs)
        self.anchors |= {values.get("id"), values.get("name")} - {None}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in {"prev", "next"}:
            self.loaded.append(values["href"])
        elif "src" in values:
            self.loaded.append(values["src"])
        elif tag == "script" and values.get("type") != "application/json":
            self.scripts += 1


def faults_of(site: Path) -> Iterator[str]:
    """Yield what is wrong with the built pages, a sentence each."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    reached = {site / "index.html"}
    for path, page in pages.items():
        name = path.relative_to(site)
        if page.scripts:
            yield f"{name} holds a script, which the content security policy refuses."
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded:
                    yield f"{name} loads {link} from another host."
                continue
            if link == "/":  # the product's home page
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or not target.is_relative_to(site.resolve()):
                yield f"{name} links to {link}, which does not exist."
            elif target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{name} links to {link}, an anchor that does not exist."
                if target != path:
                    reached.add(target)
    for path in sorted(pages.keys() - reached):
        yield f"No page leads to {path.relative_to(site)}: name it in docs/site/zensical.toml."


def put(site: Path, target: Path) -> None:
    """Bring the target to what the new site holds; a file that is as it was stays untouched.

    So whoever reads the folder meanwhile, a server or another build, never sees it half empty.
    """
    new = {path.relative_to(site): path for path in site.rglob("*") if path.is_file()}
    for path in target.rglob("*"):
        if path.is_file() and path.relative_to(target) not in new:
            path.unlink()
    for name, path in new.items():
        place = target / name
        if not place.is_file() or place.read_bytes() != path.read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_name(f"{place.name}.{os.getpid()}")
            shutil.copyfile(path, draft)
            draft.replace(place)
    (target / "index.html").touch()  # a server then reads the folder again


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else SITE)
