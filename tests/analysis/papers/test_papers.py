"""Papers: pins keep what they showed, saves are versions, and what is closed stays closed."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from analysis.exports.table_choice import column_key
from analysis.models import Paper, PaperPart
from analysis.papers.blocks import MOST_BLOCKS, PinBlock, Source, TextBlock, stored_blocks
from analysis.papers.differences import difference_lines, same_data
from analysis.papers.selectors import ShownPin, papers_for, pin_state, shown_blocks
from analysis.papers.services import (
    Draft,
    PaperChanged,
    PaperRefused,
    create_paper,
    latest_version,
    restore_version,
    save_draft,
    share_paper,
)
from analysis.papers.sources import (
    SourceGone,
    open_source,
    part_of,
    read_report,
    report_json,
)
from analysis.papers.views import paper_url
from annotation.deletion.studies import begin_with_studies, plan_study_deletion
from annotation.models import Study
from annotation.people.erasure import erase_person
from benchmarks.deletion.plans import plan_run
from benchmarks.deletion.services import begin_deletion
from benchmarks.jobs.services import perform
from benchmarks.models import Run
from benchmarks.visibility import EVERYTHING, Visibility
from tests.analysis.papers.conftest import blocks_of, board, form_of, pin
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
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db


def shown(paper: Paper, user: User) -> list[TextBlock | ShownPin]:
    return shown_blocks(latest_version(paper), user, Visibility.to(user))


def first_pin(paper: Paper, user: User) -> ShownPin:
    return next(block for block in shown(paper, user) if isinstance(block, ShownPin))


def another_run(run: Run) -> Run:
    """A second agent on the same data, right on all tasks."""
    made = make_run(run.dataset, "bob")
    for task in (1, 2, 3):
        make_trajectory(made, task, scores=[flat(4), flat(5)], accurate=1)
    return made


# --- What a pin keeps -----------------------------------------------------------------------------


def test_a_stored_report_is_read_back_as_it_was(run: Run, rita: User) -> None:
    found = open_source(board(), rita, Visibility.to(rita))
    for part, _ in found.parts():
        report = part_of(found, part)
        again = read_report(report_json(report))
        assert again == report
        for table, other in zip(report.tables, again.tables, strict=True):
            before = [[cell.estimate for cell in row] for row in table.rows]
            assert [[cell.estimate for cell in row] for row in other.rows] == before
            assert other.csv() == table.csv()


def test_parts_of_a_page_are_pinned_with_its_filters(
    editor: Client, paper: Paper, run: Run
) -> None:
    page = editor.get(reverse("analysis:leaderboard")).content.decode()
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/papers/pin/[^"]+)"', page)]
    assert any("part=answer" in link for link in links)
    assert any("part=figure:board" in link for link in links)
    (link,) = [link for link in links if "part=table:board" in link][:1]
    form = editor.get(link).content.decode()
    assert re.search(r'value="table:board" checked', form)
    sent = {"part": ["answer", "table:board"], "paper": str(paper.pk)}
    assert editor.post(link, sent).status_code == 302
    answer, table = blocks_of(paper)[1:]
    assert isinstance(answer, PinBlock) and isinstance(table, PinBlock)
    assert f"dataset={run.dataset_id}" in table.source.query
    text = editor.get(paper_url(paper)).content.decode()
    assert "Agents &amp; &lt;b&gt;plans&lt;/b&gt; at 50 % \\input{x}" in text
    # Two of three are right: the number of the sentence links to its page.
    assert re.search(r'<a href="/analysis/leaderboard/\?[^"]+">66\.7 %</a>', text)


def test_a_pin_begins_a_new_paper(editor: Client, run: Run) -> None:
    link = reverse("analysis:paper_pin", args=["page", "leaderboard"])
    refused = editor.post(link, {"part": "table:board", "paper": "new", "title": " "})
    assert refused.status_code == 422 and not Paper.objects.exists()
    editor.post(link, {"part": "table:board", "paper": "new", "title": "Mine"})
    assert [type(block) for block in blocks_of(Paper.objects.get())] == [TextBlock, PinBlock]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("page", "no-such"), ("dataset", "999999"), ("dataset", "x"), ("trajectory", "9"), ("x", "1")],
)
def test_what_is_not_there_cannot_be_pinned(editor: Client, kind: str, name: str) -> None:
    assert editor.get(reverse("analysis:paper_pin", args=[kind, name])).status_code == 404


def test_turns_of_a_trajectory_and_certificates_are_pinned(
    editor: Client, paper: Paper, run: Run
) -> None:
    trajectory = run.trajectories.earliest("pk")
    source = Source(kind="trajectory", name=str(trajectory.pk), query="from=2&to=99")
    pin(paper, "table:turns", source=source)
    excerpt = blocks_of(paper)[-1]
    assert isinstance(excerpt, PinBlock) and excerpt.source.query == "from=2&to=2"
    dataset = Source(kind="dataset", name=str(run.dataset_id))
    pin(paper, "table:comparability-1", source=dataset)
    text = editor.get(paper_url(paper)).content.decode()
    assert f"Excerpt of trajectory {trajectory.pk}" in text and "Comparability with" in text


# --- Data that change -----------------------------------------------------------------------------


def test_new_data_are_shown_beside_the_old_and_wait_for_a_decision(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    pin(paper)
    old = first_pin(paper, rita)
    now = reverse("analysis:paper_pin_now", args=[paper.pk, old.block.id])
    assert "Data unchanged" in editor.get(now).content.decode()
    another_run(run)
    text = editor.get(now, headers={"HX-Request": "true"}).content.decode()
    assert "The data changed" in text and "new: " in text
    digest = re.search(r'value="take:(\w+)"', text)
    assert digest is not None
    # Until somebody decides, the paper keeps what it showed.
    assert first_pin(paper, rita).report == old.report
    decision = f"decide-{old.block.id}"
    # The same by a page of its own, where the link is followed without a script.
    whole = editor.get(now).content.decode()
    assert f'name="{decision}" value="take:{digest[1]}"' in whole
    assert f"<h1>{escape(old.title)}</h1>" in whole
    editor.post(paper_url(paper), form_of(paper, **{decision: f"keep:{digest[1]}"}))
    kept = first_pin(paper, rita)
    assert kept.report == old.report
    assert pin_state(kept, rita, Visibility.to(rita)).kept
    editor.post(paper_url(paper), form_of(paper, **{decision: f"take:{digest[1]}"}))
    new = first_pin(paper, rita)
    assert new.report is not None and old.report is not None
    assert len(new.report.tables[0].rows) == len(old.report.tables[0].rows) + 1
    assert not pin_state(new, rita, Visibility.to(rita)).lines
    # The versions with the old content are still there.
    restore_version(paper=paper, number=2, by=rita)
    assert first_pin(paper, rita).report == old.report


def test_a_decision_about_data_that_changed_again_is_refused_and_loses_nothing(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    pin(paper)
    block = first_pin(paper, rita).block
    text = blocks_of(paper)[0].id
    sent = form_of(paper, **{f"decide-{block.id}": f"take:{'0' * 64}", f"text-{text}": "Words"})
    answer = editor.post(paper_url(paper), sent, follow=True)
    assert "changed again while you decided" in answer.content.decode()
    assert blocks_of(paper)[1] == block
    assert blocks_of(paper)[0] == TextBlock(id=text, text="Words")


def test_differences_name_rows_and_values(run: Run, rita: User) -> None:
    before = part_of(open_source(board(), rita, Visibility.to(rita)), "table:board")
    trajectory = run.trajectories.latest("pk")
    make_trajectory(run, 4, scores=[flat(4)], accurate=0)
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 5)
    after = part_of(open_source(board(), rita, Visibility.to(rita)), "table:board")
    assert trajectory.run_id == run.pk and not same_data(before, after)
    lines = difference_lines(before, after)
    assert any(", Acc: 66.7 %" in line and "→ 50.0 %" in line for line in lines)


def test_a_pin_of_a_page_that_no_longer_exists_keeps_its_content(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    version = pin(paper)
    block = blocks_of(paper)[1]
    assert isinstance(block, PinBlock)
    moved = block.model_copy(update={"source": Source(kind="page", name="gone", query="")})
    version.blocks = stored_blocks([moved])
    version.save()
    found = first_pin(paper, rita)
    assert found.report is not None
    assert "has no page “gone”" in pin_state(found, rita, Visibility.to(rita)).problem
    assert editor.get(paper_url(paper)).status_code == 200


# --- Deletions ------------------------------------------------------------------------------------


def delete_run(run: Run) -> dict[str, int]:
    plan = plan_run(run)
    job = begin_deletion(plan, by=None)
    perform(job_id=job.pk, owner="test")
    return dict(plan.counts)


def test_deleted_runs_leave_numbers_and_take_excerpts(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    other = make_run(make_dataset(name="other"), "eve")
    make_trajectory(other, 1, scores=[flat(4)], accurate=1)
    pin(paper, source=board(f"dataset={run.dataset_id}"))
    trajectory = run.trajectories.earliest("pk").pk
    pin(paper, "table:turns", source=Source(kind="trajectory", name=str(trajectory)))
    counts = delete_run(run)
    assert counts["Parts of papers"] == counts["Parts of papers that keep their numbers"] == 1
    table, excerpt = (block for block in shown(paper, rita) if isinstance(block, ShownPin))
    assert table.report is not None and excerpt.report is None
    assert "choose other data" in pin_state(table, rita, Visibility.to(rita)).problem
    text = editor.get(paper_url(paper)).content.decode()
    assert "Its content was deleted" in text and "66.7 %" in text


def test_a_deleted_excerpt_waits_for_a_decision_and_files_name_it(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    trajectory = run.trajectories.earliest("pk").pk
    pin(paper, "table:turns", source=Source(kind="trajectory", name=str(trajectory)))
    block = first_pin(paper, rita).block
    delete_run(run)
    now = reverse("analysis:paper_pin_now", args=[paper.pk, block.id])
    text = editor.get(now).content.decode()
    assert f"was: Excerpt of trajectory {trajectory}" in text
    assert f"is: trajectory {trajectory} was deleted" in text and "keeps what it shows" not in text
    for form in ("tex", "html"):
        file = editor.get(reverse(f"analysis:paper_{form}", args=[paper.pk])).content.decode()
        assert f"Missing: Excerpt of trajectory {trajectory}. Its content was deleted" in file
    decision = f"decide-{block.id}"
    editor.post(paper_url(paper), form_of(paper, **{decision: "keep:gone"}))
    assert pin_state(first_pin(paper, rita), rita, Visibility.to(rita)).kept
    editor.post(paper_url(paper), form_of(paper, **{decision: "remove:gone"}))
    assert [type(left) for left in blocks_of(paper)] == [TextBlock]


def test_an_answer_changes_with_the_warnings_beside_it(run: Run, rita: User) -> None:
    other = make_run(run.dataset, "ada")
    for task in (1, 2, 3):
        make_trajectory(other, task, scores=[flat(4), flat(5)], accurate=task % 2)
    before = part_of(open_source(board(), rita, Visibility.to(rita)), "answer")
    third = make_run(run.dataset, "ada")
    make_trajectory(third, 1, scores=[flat(4), flat(5)], accurate=1)
    Run.objects.filter(pk=third.pk).update(status=Run.Status.PAUSED)  # so it is not the one shown
    after = part_of(open_source(board(), rita, Visibility.to(rita)), "answer")
    assert same_data(replace(after, notices=before.notices), before)
    lines = difference_lines(before, after)
    assert [line.partition(":")[0] for line in lines] == ["warning was", "warning is"]
    assert f"{third.pk}" in lines[1]


def test_a_deleted_dataset_is_not_replaced_by_another(paper: Paper, rita: User, run: Run) -> None:
    other = make_run(make_dataset(name="other"), "eve")
    make_trajectory(other, 1, scores=[flat(4)], accurate=1)
    pin(paper, source=board(f"dataset={run.dataset_id}"))
    delete_run(run)
    run.dataset.tasks.all().delete()
    run.dataset.delete()
    state = pin_state(first_pin(paper, rita), rita, Visibility.to(rita))
    assert state.fresh is None and "choose other data" in state.problem


# --- Who sees what --------------------------------------------------------------------------------


def test_a_paper_is_its_owners_until_it_is_shared(
    client: Client, paper: Paper, sven: User, run: Run
) -> None:
    pin(paper)
    client.force_login(sven)
    assert client.get(paper_url(paper)).status_code == 404
    share_paper(paper=paper, sharing="read")
    text = client.get(paper_url(paper)).content.decode()
    assert "66.7 %" in text and "data-paper" not in text
    assert client.post(paper_url(paper), form_of(paper, title="Mine")).status_code == 403
    share_paper(paper=paper, sharing="edit")
    assert client.post(paper_url(paper), form_of(paper, title="Ours")).status_code == 302
    assert latest_version(paper).title == "Ours" and latest_version(paper).by == sven
    # Only its owner shares or deletes it.
    for name in ("share", "delete"):
        url = reverse(f"analysis:paper_{name}", args=[paper.pk])
        assert client.post(url, {"sharing": "private", "sure": "1"}).status_code == 404


def test_whoever_annotates_blind_sees_no_pin_of_hidden_runs(
    paper: Paper, rita: User, run: Run
) -> None:
    pin(paper, "figure:board")
    digest = first_pin(paper, rita).block.digest
    blind = Visibility(rita, closed=[run.pk])
    (_, hidden) = shown_blocks(latest_version(paper), rita, blind)
    assert isinstance(hidden, ShownPin) and hidden.hidden and hidden.report is None
    assert isinstance(first_pin(paper, rita).report, object) and digest
    share_paper(paper=paper, sharing="read")
    sven = make_person("tom", "view_results")
    assert paper in papers_for(sven, Visibility(sven))
    assert paper not in papers_for(sven, Visibility(sven, closed=[run.pk]))


def test_pins_of_a_study_are_for_those_who_read_its_results(
    client: Client, paper: Paper, rita: User, sven: User, run: Run
) -> None:
    study, ann = make_study(), make_person("ann")
    for item in run.trajectories.all():
        make_ratings(study, ann, item, {"safety": 4, "feedback_clear": 5})
    make_member(study, rita, "researcher")
    source = Source(kind="page", name="ratings", query=f"study={study.pk}")
    found = open_source(source, rita, Visibility.to(rita))
    part = next(part for part, _ in found.parts() if part.startswith("table:"))
    pin(paper, part, source=source)
    share_paper(paper=paper, sharing="edit")
    assert not first_pin(paper, rita).hidden
    assert first_pin(paper, sven).hidden
    client.force_login(sven)
    text = client.get(paper_url(paper)).content.decode()
    block = first_pin(paper, sven).block
    assert "1 pin is not shown" in text and block.title not in text
    for name in ("paper_pin_now", "paper_pin_settings"):
        url = reverse(f"analysis:{name}", args=[paper.pk, block.id])
        assert client.get(url).status_code == 404
    figure = reverse("analysis:paper_figure", args=[paper.pk, block.digest])
    assert client.get(figure).status_code == 404
    # What somebody may not see stays where it is, whatever they save or remove.
    sent = form_of(paper, block=[blocks_of(paper)[0].id], action=f"remove:{block.id}", title="New")
    assert client.post(paper_url(paper), sent).status_code == 302
    assert blocks_of(paper)[1] == block and latest_version(paper).title == "New"
    # With the study goes what papers keep of it.
    Study.objects.filter(pk=study.pk).update(status=Study.Status.CLOSED)
    study.refresh_from_db()
    plan = plan_study_deletion(study)
    assert plan.counts["Parts of papers"] == 1
    perform(job_id=begin_with_studies(plan, by=None).pk, owner="test")
    assert not PaperPart.objects.exists()
    assert "deleted" in first_pin(paper, rita).problem


def test_an_answer_that_is_still_computed_cannot_be_pinned(rita: User, run: Run) -> None:
    found = open_source(board(), rita, Visibility.to(rita))
    waiting = replace(found, report=replace(found.report, waits=True))
    assert "answer" in dict(found.parts()) and "answer" not in dict(waiting.parts())
    with pytest.raises(SourceGone, match="computed in the background"):
        part_of(waiting, "answer")


# --- Saving ---------------------------------------------------------------------------------------


def test_every_save_is_a_version_and_none_is_saved_without_a_change(
    editor: Client, paper: Paper
) -> None:
    (text,) = blocks_of(paper)
    editor.post(paper_url(paper), form_of(paper))
    assert latest_version(paper).number == 1
    editor.post(paper_url(paper), form_of(paper, **{f"text-{text.id}": "One"}))
    editor.post(paper_url(paper), form_of(paper, **{f"text-{text.id}": "Two"}))
    old = editor.get(paper_url(paper), {"version": "2"}).content.decode()
    assert "<p>One</p>" in old and "Restore version 2" in old
    editor.post(reverse("analysis:paper_restore", args=[paper.pk]), {"version": "2"})
    assert blocks_of(paper) == [TextBlock(id=text.id, text="One")]
    texts = [row.blocks[0]["text"] for row in paper.versions.order_by("number")]
    assert texts == ["", "One", "Two", "One"]


def test_the_second_of_two_editors_is_told_and_loses_nothing(editor: Client, paper: Paper) -> None:
    (text,) = blocks_of(paper)
    mine = form_of(paper, **{f"text-{text.id}": "Mine"})
    theirs = form_of(paper, **{f"text-{text.id}": "Theirs"})
    assert editor.post(paper_url(paper), theirs).status_code == 302
    answer = editor.post(paper_url(paper), mine)
    page = answer.content.decode()
    assert answer.status_code == 409 and "Your changes are not saved yet" in page
    assert ">Mine</textarea>" in page and "<pre>Theirs</pre>" in page
    assert blocks_of(paper) == [TextBlock(id=text.id, text="Theirs")]
    base = re.search(r'name="base" value="(\d+)"', page)
    assert base is not None
    again = {**mine, "base": base[1], "began": mine["base"]}
    assert editor.post(paper_url(paper), again).status_code == 302
    assert blocks_of(paper) == [TextBlock(id=text.id, text="Mine")]
    assert [row.blocks[0]["text"] for row in paper.versions.all()] == ["Mine", "Theirs", ""]


def test_a_block_that_the_other_editor_removed_comes_back_with_the_second_save(
    editor: Client, paper: Paper
) -> None:
    (text,) = blocks_of(paper)
    mine = form_of(paper, **{f"text-{text.id}": "Mine"})
    editor.post(paper_url(paper), form_of(paper, action=f"remove:{text.id}"))
    assert blocks_of(paper) == []
    assert editor.post(paper_url(paper), mine).status_code == 409
    again = {**mine, "base": "2", "began": "1"}
    assert editor.post(paper_url(paper), again).status_code == 302
    assert blocks_of(paper) == [TextBlock(id=text.id, text="Mine")]


def test_parts_that_were_pinned_while_somebody_wrote_are_kept(
    editor: Client, paper: Paper, run: Run
) -> None:
    (text,) = blocks_of(paper)
    mine = form_of(paper, **{f"text-{text.id}": "Mine"})
    pin(paper)
    assert editor.post(paper_url(paper), mine).status_code == 302
    first, second = blocks_of(paper)
    assert first == TextBlock(id=text.id, text="Mine") and isinstance(second, PinBlock)


def test_blocks_move_come_and_go_without_scripts(editor: Client, paper: Paper, run: Run) -> None:
    pin(paper, "answer", "table:board")
    text, answer, table = (block.id for block in blocks_of(paper))

    def press(action: str) -> list[str]:
        editor.post(paper_url(paper), form_of(paper, action=action))
        return [block.id for block in blocks_of(paper)]

    assert press(f"up:{table}") == [text, table, answer]
    assert press(f"down:{text}") == [table, text, answer]
    assert press(f"up:{table}") == [table, text, answer]
    assert press(f"remove:{answer}") == [table, text]
    added = press(f"text:{table}")
    assert added[0] == table and added[2] == text and len(added) == 3
    assert press("up:nobody") == added


def test_what_is_chosen_of_a_table_is_kept_and_shown(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    pin(paper)
    key = blocks_of(paper)[1].id
    fields = reverse("analysis:paper_pin_settings", args=[paper.pk, key])
    assert (
        "Digits after the point"
        in editor.get(fields, headers={"HX-Request": "true"}).content.decode()
    )
    chosen = {
        f"settings-{key}": "1", f"width-{key}": "85", f"digits-{key}": "0",
        f"column-{key}": ["acc"], f"caption-{key}": "Who is right & when",
    }  # fmt: skip
    editor.post(paper_url(paper), form_of(paper, **chosen))
    found = first_pin(paper, rita)
    assert (found.block.width, found.block.digits, found.title) == (85, 0, "Who is right & when")
    assert found.table is not None
    assert [column.label for column in found.table.columns] == ["Agent", "Acc"]
    assert found.table.rows[0][1].text == "67 %"
    assert found.small_points is None and found.report is not None
    columns = [column_key(column) for column in found.report.tables[0].columns[1:]]
    wide = ShownPin(found.block.model_copy(update={"columns": tuple(columns)}), found.report)
    shown = render_to_string("analysis/papers/_pin.html", {"block": {"pin": wide}})
    assert "At 85 mm, these columns are printed with letters of about" in shown
    # A form without these fields leaves them as they are.
    editor.post(paper_url(paper), form_of(paper, title="Other"))
    assert first_pin(paper, rita).block == found.block


def test_two_hundred_pins_are_shown_and_too_many_refused(
    editor: Client, paper: Paper, rita: User, run: Run
) -> None:
    version = pin(paper)
    block = blocks_of(paper)[1]
    many = [block.model_copy(update={"id": f"b{n}"}) for n in range(MOST_BLOCKS - 1)]
    version.blocks = stored_blocks(many[:200])
    version.save()
    page = editor.get(paper_url(paper)).content.decode()
    assert page.count('name="block"') == 200
    assert editor.post(paper_url(paper), form_of(paper, title="Many")).status_code == 302
    version = latest_version(paper)
    version.blocks = stored_blocks(many)
    version.save()
    pin(paper)
    with pytest.raises(PaperRefused, match="at most 300"):
        pin(paper)
    assert len(blocks_of(paper)) == MOST_BLOCKS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": " "}, "A paper needs a title"),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"base": "99"}, "is not there; reload it"),
        ({"base": "x"}, "is not there; reload it"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_kept_in_the_form(
    editor: Client, paper: Paper, changes: dict[str, Any], words: str
) -> None:
    (text,) = blocks_of(paper)
    sent = form_of(paper, **{f"text-{text.id}": "Mine"}, **changes)
    answer = editor.post(paper_url(paper), sent)
    page = answer.content.decode()
    assert answer.status_code == 422 and words in page and ">Mine</textarea>" in page
    assert latest_version(paper).number == 1


def test_a_long_text_is_refused(paper: Paper, rita: User) -> None:
    (text,) = blocks_of(paper)
    long = text.model_copy(update={"text": "x" * 20_001})
    with pytest.raises(PaperRefused, match="at most 20,000"):
        save_draft(paper=paper, draft=Draft(1, "T", [long]), by=rita)
    moved = [TextBlock(id="a"), TextBlock(id="b")]
    save_draft(paper=paper, draft=Draft(1, "T", moved), by=rita)
    with pytest.raises(PaperChanged):
        save_draft(paper=paper, draft=Draft(1, "T", moved), by=rita)


def test_a_source_with_filters_of_nothing_says_why(rita: User) -> None:
    with pytest.raises(SourceGone, match="shows nothing"):
        part_of(open_source(board(), rita, Visibility.to(rita)), "table:board")


# --- The API --------------------------------------------------------------------------------------


def test_the_api_lists_and_reads_papers(paper: Paper, rita: User, sven: User, run: Run) -> None:
    pin(paper, "figure:board")
    program = Caller(bearer(rita))
    (listed,) = program.get("/papers").json()
    assert (listed["id"], listed["sharing"]) == (paper.pk, "private")
    read = program.get(f"/papers/{paper.pk}").json()
    text, figure = read["blocks"]
    assert text["pin"] is None and read["version"] == 2 and read["hidden"] == 0
    assert figure["pin"]["part"] == "figure:board" and figure["pin"]["name"] == "leaderboard"
    (drawn,) = figure["pin"]["report"]["figures"]
    assert drawn["plotly"]["data"]
    assert len(program.get(f"/papers/{paper.pk}?version=1").json()["blocks"]) == 1
    assert program.get(f"/papers/{paper.pk}?version=9").status_code == 404
    latex = program.get(f"/papers/{paper.pk}/file?format=tex")
    assert latex.status_code == 200 and rb"\begin{figure*}" in latex.content
    other = Caller(bearer(sven))
    assert other.get("/papers").json() == []
    assert other.get(f"/papers/{paper.pk}").status_code == 404
    assert other.get(f"/papers/{paper.pk}/file").status_code == 404


def test_an_erased_persons_own_papers_go_and_shared_ones_stay_without_their_name(
    rita: User, sven: User, paper: Paper
) -> None:
    root = User.objects.create_superuser("root")
    create_paper(owner=rita, title="Only mine")
    Paper.objects.filter(pk=paper.pk).update(title="By rita and sven")
    share_paper(paper=paper, sharing=Paper.Sharing.EDIT)
    erase_person(user=rita, by=root, typed="rita", reason="They asked for it.")
    (left,) = papers_for(sven, EVERYTHING)
    assert left.pk == paper.pk and "rita" not in left.title and "sven" in left.title
    assert left.owner.get_username() == f"erased-{rita.pk}"
    assert not Paper.objects.filter(title="Only mine").exists()
