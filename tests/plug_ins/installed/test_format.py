"""The format of an installed package is recognised by page and command."""

import io
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.jobs import wake_up
from benchmarks.models import Job, Run
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]

LOG = [{"who": "master", "says": "A cave."}, {"who": "hero", "says": "I look for the lamp."}]
QUEST = {"quest": "Find the lamp", "hero": "gpt-hero", "log": LOG, "won": True}


def file_of(*quests: object) -> bytes:
    return "".join(f"{json.dumps(quest)}\n" for quest in quests).encode()


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_person("rita", superuser=True))
    return client


def send(client: Client, content: bytes) -> str:
    file = SimpleUploadedFile("quests.jsonl", content)
    given = {"file": file, "format": "", "name": "Quests", "agent": ""}
    assert client.post("/trajectories/import/", given, follow=True).status_code == 200
    job = Job.objects.get()
    wake_up.wake_for_job(job.pk)
    return client.get(f"/trajectories/import/{job.pk}/").content.decode()


def test_the_page_recognises_it(client: Client) -> None:
    assert "as the quest game writes them" in client.get("/trajectories/import/").content.decode()
    assert "1 trajectory" in send(client, file_of(QUEST))
    run = Run.objects.get()
    assert (run.agent.title, run.pins["plug_in"]["package"]) == ("gpt-hero", "toy-plug-ins")
    page = client.get(f"/trajectories/{run.trajectories.get().pk}/").content.decode()
    assert "I look for the lamp." in page


def test_faults_are_named_by_line_and_field(client: Client) -> None:
    page = send(client, file_of(QUEST, {**QUEST, "won": "yes"}))
    assert "quests.jsonl, line 2, won" in page and "true or false" in page
    assert not Run.objects.exists()


def test_the_command_recognises_it(tmp_path: Path) -> None:
    path, out = tmp_path / "quests.jsonl", io.StringIO()
    path.write_bytes(file_of(QUEST))
    call_command("import_trajectories", str(path), stdout=out)
    assert "(Quest log)" in out.getvalue()
    path.write_bytes(file_of({"quest": "Swim", "log": []}))
    with pytest.raises(CommandError):
        call_command("import_trajectories", str(path), stdout=out, stderr=out)
    assert "line 1, log: expected a list with at least one entry" in out.getvalue()
