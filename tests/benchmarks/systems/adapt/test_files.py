"""Persona files: what is read, and every fault with its file, line and field."""

from pathlib import Path

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.adapt.dataset import FILE, IMPORTER, load_personas, read_files
from benchmarks.systems.adapt.household.inventory import FILE as HOUSEHOLD

SOUND = """version: 1
tasks:
  cereal: {text: "Cereal, please.", expects: [cereal]}
personas:
  - id: ada
    name: Ada
    fold: 1
    preferences:
      - {n: 1, dim: addition, text: "Nuts on it.", rule: {include: {of: cereal, sel: [nut]}}}
      - {n: 2, dim: order, text: "Milk last.",
         rule: {add_order: {of: cereal, first: [cereal], then: [milk]}}}
"""


def read(tmp_path: Path, text: str, household: str = ""):
    paths = [tmp_path / "mine.yaml"]
    paths[0].write_text(text)
    if household:
        paths.append(tmp_path / "house.yaml")
        paths[1].write_text(household)
    return IMPORTER.find_format(paths).read_files(paths, {})


def test_a_small_file_is_read(tmp_path):
    file = read(tmp_path, SOUND)
    ((task, profiles),) = list(file.tasks)
    assert (task.id, task.category, task.payload["fold"]) == ("ada-cereal", "cereal", 1)
    assert [c.text for c in profiles[0].constraints] == ["Nuts on it.", "Milk last."]
    assert file.notes.startswith("1 personas with 2 preferences, 1 meals, a household of 232")


def test_another_household_may_come_with_it(tmp_path):
    house = HOUSEHOLD.read_text().replace("  bagel_0:", "  rusk_0:")
    file = read(tmp_path, SOUND, house)
    assert "rusk_0" in file.shared["household"]["movable"]
    assert file.checksum != read(tmp_path, SOUND).checksum
    with pytest.raises(
        FileRefused, match=r"house.yaml, line \d+, movable.egg_0\[2\]: expected one of"
    ):
        read(
            tmp_path, SOUND, HOUSEHOLD.read_text().replace("egg, edible, [animal]", "egg, x, []", 1)
        )


def test_the_shipped_files():
    file = load_personas()
    assert len(list(file.tasks)) == 128
    assert read_files([FILE, HOUSEHOLD], {}).checksum == file.checksum


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("sel: [nut]", "sel: [nutz]",
         r"line 9, personas\[0\].preferences\[0\].rule.include.sel\[0\]: expected a selector"),
        ("include:", "includes:", r"line 9, .*rule.includes: expected a form of rule among"),
        ("of: cereal, sel", "of: soup, sel", r"line 9, .*include.of: expected a kind or group"),
        ("of: cereal, sel", "role: top, of: cereal, sel", r"line 9, .*role: expected one of added"),
        (", then: [milk]", "", r"line 11, .*rule.add_order: expected a field then"),
        ("dim: order", "dim: odour", r"line 10, .*preferences\[1\].dim: expected a type among"),
        ("n: 2", "n: 1", r"line 10, .*preferences\[1\].n: expected each number once"),
        ("Milk last.", "Nuts on it.", r"line 10, .*text: expected each text once"),
        ("fold: 1", "fold: 9", r"line 7, personas\[0\].fold: expected a fold from 0 to 3"),
        ("expects: [cereal]", "expects: [soup]", r"line 3, tasks.cereal.expects: expected a list"),
        ("id: ada", "id: ''", r"line 5, personas\[0\].id: expected a text that is not blank"),
        ("personas:", "people:", r"mine.yaml, line 1, the file: expected a field personas"),
        ("[nut]", "[nut", r"mine.yaml, line \d+: expected YAML"),
    ],
)  # fmt: skip
def test_faults_are_named(tmp_path, old, new, fault):
    assert old in SOUND
    with pytest.raises(FileRefused, match=fault):
        read(tmp_path, SOUND.replace(old, new))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FileRefused, match="one file with personas"):
        read_files([HOUSEHOLD], {})
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(FileRefused, match="UTF-8"):
        read_files([tmp_path / "mine.yaml"], {})
