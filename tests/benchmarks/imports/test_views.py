"""The page for trajectories made elsewhere: the form, the job, what came of it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from benchmarks.jobs import wake_up
from benchmarks.models import Job, Run, Upload
from tests.benchmarks.api.files import chat_file
from tests.benchmarks.formats import samples

URL = "/trajectories/import/"
HOSTILE = "<script>alert('x')</script>"


def send(client: Client, file: Any = None, **fields: str) -> Any:
    given = {"format": "", "name": "", "agent": "", **fields}
    return client.post(URL, {"file": file or chat_file(), **given}, follow=True)


def ring(job: Job) -> None:
    wake_up.wake_for_job(job.pk)


def test_each_format_has_its_line(researcher: Client) -> None:
    page = researcher.get(URL).content.decode()
    for words in ("Detect automatically", "ATIF (Harbor)", "with continuations", "JSON lines"):
        assert words in page


def test_the_lists_lead_here(researcher: Client, reader: Client) -> None:
    for name in ("analysis:trajectory_list", "benchmarks:run_list", "benchmarks:dataset_list"):
        url = reverse(name)
        assert f'href="{URL}"' in researcher.get(url).content.decode(), name
        assert f'href="{URL}"' not in reader.get(url).content.decode(), name


def test_from_the_file_to_the_runs(researcher: Client) -> None:
    page = send(researcher, name="Talks", agent="nobody")
    job = Job.objects.get()
    assert page.redirect_chain == [(f"{URL}{job.pk}/", 302)]
    text = page.content.decode()
    assert "talks.jsonl" in text
    assert "Waiting for a worker" in text
    ring(job)
    text = researcher.get(f"{URL}{job.pk}/").content.decode()
    run = Run.objects.get()
    assert (run.dataset.name, run.agent.title) == ("Talks", "zebra-7b")
    assert "2 trajectories with" in text
    for url in (f"/runs/{run.pk}/", f"/datasets/{run.dataset_id}/", f"/trajectories/?run={run.pk}"):
        assert f'href="{url}"' in text
    assert not Upload.objects.exists()
    assert "talks.jsonl" in researcher.get(URL).content.decode()


def test_a_session_that_was_cut_off_says_so(researcher: Client, tmp_path: Path) -> None:
    sound = samples.write_sample(tmp_path, "codex").read_bytes()
    cut = SimpleUploadedFile("crashed.jsonl", sound + b'{"type": "event_msg", "pay')
    send(researcher, file=cut)
    job = Job.objects.get()
    ring(job)
    page = researcher.get(f"{URL}{job.pk}/").content.decode()
    assert "The last line of a session is cut off." in page
    assert "truncated last line (1)" in page


def test_several_files_are_imported_at_once_each_with_its_report(researcher: Client) -> None:
    broken = SimpleUploadedFile("broken.jsonl", b'{"messages": [{"role": "nobody"}]}')
    given = {"format": "", "name": "Talks", "agent": "", "file": [chat_file(), broken]}
    page = researcher.post(URL, given, follow=True)
    first, second = Job.objects.order_by("pk")
    assert page.redirect_chain == [(f"{URL}?sent={first.pk}&sent={second.pk}", 302)]
    assert 'hx-trigger="every 2s"' in page.content.decode()
    ring(first)
    ring(second)
    page = researcher.get(page.redirect_chain[0][0])
    text = page.content.decode()
    assert [one.state[0] for one in page.context["sent"]] == ["imported", "refused"]
    assert "2 trajectories" in text and "every 2s" not in text
    for job in (first, second):
        assert f'href="{URL}{job.pk}/"' in text
    run = Run.objects.get()
    assert run.dataset.name == "Talks", "a refused file changes nothing of the others"
    assert f'href="/studies/new/?run={run.pk}"' in text
    assert not Upload.objects.exists()


def test_an_empty_file_among_several_is_named(researcher: Client) -> None:
    empty = SimpleUploadedFile("nothing.jsonl", b"")
    given = {"format": "", "name": "", "agent": "", "file": [chat_file(), empty]}
    page = researcher.post(URL, given)
    assert page.status_code == 422 and "Empty: nothing.jsonl." in page.content.decode()
    assert not Job.objects.exists() and not Upload.objects.exists()
    page = researcher.post(URL, given | {"file": SimpleUploadedFile("nothing.jsonl", b"")})
    assert "The file is empty." in page.content.decode()


def test_files_that_are_too_large_together_are_refused(researcher: Client, settings: Any) -> None:
    settings.UPLOAD_BYTES = 3 * len(chat_file().read()) // 2
    given = {"format": "", "name": "", "agent": "", "file": [chat_file(), chat_file()]}
    page = researcher.post(URL, given)
    assert page.status_code == 422 and "larger than" in page.content.decode()
    assert not Job.objects.exists() and not Upload.objects.exists()
    assert researcher.get(f"{URL}?sent=x&sent=999999").context["sent"] == []


def test_the_same_file_again_says_so(researcher: Client) -> None:
    for _ in range(2):
        send(researcher)
        ring(Job.objects.latest("pk"))
    page = researcher.get(f"{URL}{Job.objects.latest('pk').pk}/").content.decode()
    assert "was imported before; nothing was added" in page
    assert Run.objects.count() == 1


def test_progress_until_the_end(researcher: Client) -> None:
    send(researcher)
    job = Job.objects.get()
    url = reverse("benchmarks:import_progress", args=[job.pk])
    page = researcher.get(f"{URL}{job.pk}/").content.decode()
    (asked,) = re.findall(r'hx-get="([^"]+/progress/[^"]*)"', page)
    assert researcher.get(asked.replace("&amp;", "&")).status_code == 204
    Job.objects.filter(pk=job.pk).update(status="running", done=1, total=4, message="Fetching")
    moved = researcher.get(asked.replace("&amp;", "&"))
    assert moved.status_code == 200
    assert "1 of 4 MB fetched" in moved.content.decode()
    assert "<html" not in moved.content.decode()
    Job.objects.filter(pk=job.pk).update(status="queued")
    ring(job)
    over = researcher.get(url)
    assert (over.status_code, over["HX-Refresh"]) == (286, "true")


def test_faults_are_shown_and_the_choices_kept(researcher: Client) -> None:
    lines = [{"messages": [{"role": HOSTILE, "content": "x"}]}]
    file = SimpleUploadedFile(f"{HOSTILE}.jsonl", json.dumps(lines[0]).encode())
    send(researcher, file, format="openai-chat", name="Mine <b>", agent='"me"')
    job = Job.objects.get()
    ring(job)
    page = researcher.get(f"{URL}{job.pk}/")
    text = page.content.decode()
    assert "Nothing was imported" in text
    assert "line 1" in text
    assert "expected" in text
    assert "<script>alert" not in text
    assert "<b>" not in text
    form = page.context["form"]
    assert (form["format"].value(), form["name"].value(), form["agent"].value()) == (
        "openai-chat", "Mine <b>", '"me"',
    )  # fmt: skip
    assert 'value="openai-chat" selected' in text
    assert not Run.objects.exists() and not Upload.objects.exists()


def test_of_many_faults_the_first_are_shown(researcher: Client) -> None:
    bad = "\n".join(json.dumps({"messages": [{"role": f"r{n}"}]}) for n in range(40))
    send(researcher, SimpleUploadedFile("t.jsonl", bad.encode()), format="openai-chat")
    ring(Job.objects.get())
    text = researcher.get(f"{URL}{Job.objects.get().pk}/").content.decode()
    assert text.count("<li><strong>") == 20
    assert "These are the first 20" in text


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [({"format": "excel"}, "format"), ({"name": "x" * 121}, "name"), ({"agent": "a\x00"}, "agent"),
     ({"file": SimpleUploadedFile("empty.json", b"")}, "file")],
)  # fmt: skip
def test_a_form_that_does_not_hold_is_shown_again(
    researcher: Client, fields: dict[str, Any], wrong: str
) -> None:
    page = send(researcher, **fields)
    assert page.status_code == 422
    assert list(page.context["form"].errors) == [wrong]
    assert not Job.objects.exists() and not Upload.objects.exists()


def test_without_a_file_the_form_asks_for_one(researcher: Client) -> None:
    page = researcher.post(URL, {"format": ""})
    assert page.status_code == 422
    assert "Choose a file" in page.content.decode()


def test_a_file_above_the_bound_is_refused_in_words(researcher: Client, settings: Any) -> None:
    settings.UPLOAD_BYTES = 100
    page = send(researcher)
    assert page.status_code == 422
    assert "larger than" in page.content.decode()
    huge = SimpleUploadedFile("x.json", b"x" * 70_000)  # told by its length, before it is read
    page = send(researcher, huge)
    assert page.status_code == 413
    assert "larger than" in page.content.decode()
    assert not Upload.objects.exists()


def test_a_form_without_its_token_is_refused(researcher: Client) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies = researcher.cookies
    assert send(client).status_code == 403
    assert not Upload.objects.exists()
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', client.get(URL).content.decode())
    assert token is not None
    assert send(client, csrfmiddlewaretoken=token.group(1)).status_code == 200
    assert Upload.objects.count() == 1


def test_jobs_of_other_kinds_are_not_found(researcher: Client) -> None:
    job = Job.objects.create(kind="demo", title="Loading the demo")
    assert researcher.get(f"{URL}{job.pk}/").status_code == 404
