"""Tests of exports from pages: LaTeX, PDF, one-file reports, and who may have them."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from analysis.exports import figure_pdf
from analysis.exports.chromium import NotPrinted, print_to_pdf
from analysis.exports.embedding import digest, json_tag, script_tag
from analysis.exports.figure_page import figure_page
from analysis.exports.latex import TableSource, latex_table
from analysis.exports.table_choice import TableChoice, column_key
from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import make_report, report_key
from annotation.models import Assignment, Study
from benchmarks.models import Agent, Run
from benchmarks.visibility import Visibility
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db
EVIL = "</script><script>alert(1)</script> & \\input{x}"


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["reports"].clear()
    figure_pdf.chromium.cache_clear()


@pytest.fixture
def run(db: None) -> Run:
    """A run with scores, by an agent whose title would break out of a page."""
    made = make_run(make_dataset(is_demo=True), "ada")
    for task in (1, 2, 3):
        make_trajectory(made, task, scores=[flat(4), flat(5)], accurate=task % 2)
    Agent.objects.filter(pk=made.agent_id).update(title=EVIL)
    return made


@pytest.fixture
def study(run: Run) -> Study:
    made, ann = make_study(is_demo=True), make_person("ann")
    for item in run.trajectories.all():
        make_ratings(made, ann, item, {"safety": 4, "feedback_clear": 5}, simulated=True)
    return made


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_person("rita", "view_results"))
    return client


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200, url
    assert "attachment" in response["Content-Disposition"]
    return str(response.content.decode())


def test_every_table_of_a_page_has_latex_beside_its_csv(reader: Client, run: Run) -> None:
    page = reader.get(reverse("analysis:leaderboard"), {"details": "open"}).content.decode()
    links = re.findall(r'action="([^"]+\.tex)"', page)
    assert len(links) == page.count(">CSV<") >= 2
    assert page.count("data-copy-file") == len(links)
    for link in links:
        text = text_of(reader, link.replace("&amp;", "&"))
        assert r"\toprule" in text
        # The demo is marked in the file, too.
        assert r"Demo data: Made with" in text
    assert r"\textless{}/script\textgreater{}" in text_of(
        reader, reverse("analysis:leaderboard_latex", kwargs={"part": "board"})
    )


def test_a_page_offers_its_figures_as_plotly_json(reader: Client, run: Run) -> None:
    page = reader.get(reverse("analysis:leaderboard")).content.decode()
    links = re.findall(r'href="([^"]+form=plotly)"', page)
    assert links
    for link in links:
        response = reader.get(link.replace("&amp;", "&"))
        assert response["Content-Disposition"].endswith('.plotly.json"')
        figure = json.loads(response.content)
        assert figure["data"] and "var(" not in response.content.decode()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("width", [85, 170])
def test_every_table_fits_the_width_that_was_chosen(
    admin: Client, study: Study, tmp_path: Path, width: int
) -> None:
    """TeX compiles the tables of all pages on a text of that width, and no line sticks out."""
    user = User.objects.get(is_superuser=True)
    packages = r"\usepackage{booktabs,adjustbox,siunitx}\extrafloats{200}"
    paper = rf"\usepackage[textwidth={width}mm,textheight=240mm]{{geometry}}"
    document = [rf"\documentclass{{article}}{paper}{packages}\begin{{document}}"]
    for page in PAGES.values():
        selection = select(page, Filters(), user, Visibility())
        report = make_report(page, selection, report_key(page, selection))
        source = TableSource(page.key, "Set & more", ("x",), report.banners, TableChoice((), width))
        for table in report.tables:
            # As it comes, and with all of its columns.
            for columns in ((), tuple(map(column_key, table.columns))):
                chosen = replace(source, choice=TableChoice(columns, width))
                document += [latex_table(table, chosen), r"\clearpage"]
    (tmp_path / "t.tex").write_text("\n".join([*document, r"\end{document}"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "t.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert len(document) > 40
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)
    assert [points for points in map(float, wide) if points > 3] == []
    assert "Float too large" not in log


def test_every_figure_leads_to_a_table_with_its_numbers(reader: Client, study: Study) -> None:
    for name in PAGES:
        page = reader.get(reverse(f"analysis:{name}"), {"details": "open"}).content.decode()
        figures = page.count("data-figure ")
        to = re.findall(r'href="#(table-[\w-]+)">The numbers of this figure', page)
        assert len(to) == figures, name
        assert all(f'id="{anchor}"' in page for anchor in to), name


def test_a_page_says_its_methods_to_paste(reader: Client, run: Run) -> None:
    page = reader.get(reverse("analysis:leaderboard"), {"details": "open"}).content.decode()
    sentence = re.search(r'<p id="how-text-methods">([^<]+)</p>', page)
    assert sentence is not None
    assert ": 95 % Wilson score intervals, n = 3." in sentence[1]
    assert 'data-copy="how-text-methods"' in page


def check_file(text: str) -> None:
    """A file that asks no address, runs only what it names, and holds nobody's markup."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    allowed = policy[1].replace("&#x27;", "'")
    assert allowed.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r'<script(?: type="module")?>(.*?)</script>', text, re.DOTALL)
    assert len(scripts) == 2
    assert all(digest(script) in allowed for script in scripts)
    assert not re.search(r"<(?:script|img|link|iframe)[^>]*\b(?:src|href)=", text)
    assert "alert(1)</script>" not in text
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text):
        assert "<" not in data
        assert all("customdata" not in trace for trace in json.loads(data)["data"])
    # Without scripts every figure has its numbers in a table of the file.
    for anchor in re.findall(r'<a href="#([\w-]+)">The numbers', text):
        assert f'id="{anchor}"' in text


def test_a_page_with_its_filters_as_one_file(reader: Client, run: Run) -> None:
    url = reverse("analysis:leaderboard_file", query={"agents": "ada"})
    text = text_of(reader, url)
    check_file(text)
    assert "agents=ada" in text and "Demo data" in text
    assert f"Made by rita with PlanJury {settings.VERSION}" in text


def test_a_run_as_one_file(reader: Client, run: Run) -> None:
    text = text_of(reader, reverse("analysis:run_file", args=[run.pk]))
    check_file(text)
    for id_ in ("run", "leaderboard", "rubric", "decline", "dispersion"):
        assert f'<section id="{id_}"' in text
    for table in ("run-table-results", "run-table-endings", "run-table-roles"):
        assert f'id="{table}"' in text
    assert f"Seed of the run: {run.seed}" in text
    # An older run of the same agent is about itself, not about the newest.
    newer = make_run(run.dataset, "ada", finished=9)
    make_trajectory(newer, 1, scores=[flat(1)], accurate=0)
    assert "66.7 %" in text_of(reader, reverse("analysis:run_file", args=[run.pk]))


def test_a_study_as_one_file_names_no_annotator(admin: Client, study: Study) -> None:
    text = text_of(admin, reverse("analysis:study_file", args=[study.pk]))
    check_file(text)
    for id_ in ("agreement", "ratings", "quality"):
        assert f'<section id="{id_}"' in text
    assert "imulated annotator" in text
    assert "What is known of each annotator is left out of files" in text
    assert "ann@" not in text and ">ann<" not in text


def test_a_blind_annotator_gets_no_file_of_the_study(client: Client, study: Study) -> None:
    person = make_person("dora", "view_results")
    make_member(study, person, "researcher")
    url = reverse("analysis:study_file", args=[study.pk])
    client.force_login(person)
    assert client.get(url).status_code == 200
    make_member(study, person, "annotator")
    item = Run.objects.get().trajectories.earliest("pk")
    make_ratings(study, person, item, {}, state=Assignment.State.OPEN)
    Study.objects.filter(pk=study.pk).update(blinded=True)
    assert client.get(url).status_code == 403
    # The run of those items is closed, and so is its file.
    assert client.get(reverse("analysis:run_file", args=[Run.objects.get().pk])).status_code == 404


def test_pdf_needs_a_browser_and_says_so(reader: Client, run: Run, settings: Settings) -> None:
    settings.CHROMIUM = "off"
    url = reverse("analysis:leaderboard_pdf", kwargs={"part": "board"})
    response = reader.get(url)
    assert response.status_code == 501
    assert b"No Chromium is installed here" in response.content
    page = reader.get(reverse("analysis:leaderboard")).content.decode()
    assert ".pdf" not in page and 'data-save="svg" data-width="column"' in page


def test_pdf_of_a_figure(
    reader: Client, run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHROMIUM = "/usr/bin/true"
    asked: list[str] = []

    def printed(page: str, *, chromium: str) -> bytes:
        asked.append(page)
        return b"%PDF-1.4"

    monkeypatch.setattr(figure_pdf, "print_to_pdf", printed)
    url = reverse("analysis:leaderboard_pdf", kwargs={"part": "board"}, query={"width": "wide"})
    for _ in range(2):
        response = reader.get(url)
        assert response.content == b"%PDF-1.4"
        assert re.search(r"leaderboard-.*-board-178mm\.pdf", response["Content-Disposition"])
    # Kept: the browser is started once.
    assert len(asked) == 1
    assert asked[0].count("url(data:font/woff2") == 4
    assert "default-src &#x27;none&#x27;" in asked[0] and "alert(1)</script>" not in asked[0]
    assert reader.get(f"{url}x").status_code == 400


@pytest.mark.parametrize(
    ("program", "words"),
    [("#!/bin/sh\nsleep 30 & sleep 30\n", "did not print the figure within"),
     ("#!/bin/sh\nexit 1\n", "ended without printing"),
     (None, "could not be started")],
    ids=["too slow", "fails", "gone"],
)  # fmt: skip
def test_a_browser_that_does_not_print(tmp_path: Path, program: str | None, words: str) -> None:
    path = tmp_path / "chromium"
    if program is not None:
        path.write_text(program)
        path.chmod(0o755)
    seconds = 0.2 if "sleep" in (program or "") else 60
    with pytest.raises(NotPrinted, match=words):
        print_to_pdf("<p>", chromium=str(path), seconds=seconds)


def test_what_is_embedded_cannot_end_its_element() -> None:
    tag = json_tag(json.dumps({"a": "</script><!--&\u2028"}), "x")
    inner = tag[tag.index(">") + 1 : tag.rindex("</script>")]
    assert not set("<>&\u2028") & set(inner)
    assert json.loads(inner) == {"a": "</script><!--&\u2028"}
    with pytest.raises(ValueError, match="end early"):
        script_tag("'</SCRIPT>'")
    with pytest.raises(ValueError, match="no width"):
        figure_page(None, "huge")  # type: ignore[arg-type]
