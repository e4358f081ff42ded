"""A thousand damaged copies of an exported study: imported as a whole, or refused in words.

A member of the archive that cannot be unpacked, a value of another kind, a row that contradicts
another: each is `Refused` with its place, and nothing of it is stored.
"""

import io
import json
import random
import zipfile
from pathlib import Path

import pytest
from django.db import transaction

from annotation.errors import Refused
from annotation.exports.scope import Scope
from annotation.exports.services import ExportRequest, write_study
from annotation.imports.services import import_study
from annotation.models import Study
from benchmarks.models import Dataset, Run
from tests.annotation.exports.worlds import make_world
from tests.benchmarks.formats.damage import mutate, rot, spoil

pytestmark = pytest.mark.django_db
TIMES = 1000


@pytest.fixture
def sound(tmp_path: Path) -> dict[str, bytes]:
    """The members of an exported study that an installation without its runs reads."""
    study = make_world().study
    wish = ExportRequest(Scope(study))
    write_study(wish=wish, formats=["archive"], target=tmp_path / "out")
    Dataset.objects.update(name="Old", checksum="old")
    with zipfile.ZipFile(tmp_path / "out" / "study.zip") as archive:
        names = [name for name in archive.namelist() if name.startswith(("study.json", "sources"))]
        assert len(names) == 2, archive.namelist()
        return {name: archive.read(name) for name in names}


def packed(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def settle(path: Path) -> bool:
    """Import into the database and take it back; whether it was imported."""
    before = (Study.objects.count(), Run.objects.count())
    with transaction.atomic():
        try:
            made = import_study(path=path)
        except Refused as refused:
            assert refused.reason.strip() and "Traceback" not in refused.reason
            made = None
        if made is None or made.study is None:
            assert (Study.objects.count(), Run.objects.count()) == before
            return False
        transaction.set_rollback(True)
    return True


def damaged(sound: dict[str, bytes], rng: random.Random) -> bytes:
    """Return an archive of which a value, a row of the sources, or some bytes are others."""
    way, members = rng.randrange(4), dict(sound)
    document, sources = sorted(members, key=lambda name: name != "study.json")
    if way == 0:
        return rot(packed(members), rng)
    if way == 1:
        members[document] = json.dumps(mutate(json.loads(members[document]), rng)).encode()
    elif way == 2:
        rows = members[sources].splitlines()
        number = rng.randrange(len(rows))
        rows[number] = json.dumps(mutate(json.loads(rows[number]), rng)).encode()
        members[sources] = b"\n".join(rows) + b"\n"
    else:
        name = rng.choice((document, sources))
        members[name] = spoil(members[name], rng)
    return packed(members)


def test_damaged_archives_are_refused_or_imported(sound: dict[str, bytes], tmp_path: Path) -> None:
    rng, path = random.Random("study"), tmp_path / "study.zip"
    path.write_bytes(packed(sound))
    assert settle(path)
    outcomes = set()
    for number in range(TIMES):
        path.write_bytes(damaged(sound, rng))
        try:
            outcomes.add(settle(path))
        except Exception as error:
            raise AssertionError(f"mutation {number}: {error!r}") from error
    assert outcomes == {True, False}


def test_a_damaged_member_is_named(sound: dict[str, bytes], tmp_path: Path) -> None:
    path, whole = tmp_path / "study.zip", packed(sound)
    start = whole.index(b"study.json") + len("study.json")
    path.write_bytes(whole[:start] + bytes(40) + whole[start + 40 :])
    with pytest.raises(Refused, match=r"study.zip, study.json: expected a member that can be"):
        import_study(path=path)
