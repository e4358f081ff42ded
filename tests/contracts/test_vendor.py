"""Files made by others are exactly those that VENDOR.txt names."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "static" / "vendor" / "VENDOR.txt"


def entries() -> dict[str, list[str]]:
    rows = [line.split(" | ") for line in LIST.read_text().splitlines() if line.count(" | ") == 4]
    return {path: rest for path, *rest in rows if "/" in path}


def test_every_vendored_file_is_listed_with_its_licence() -> None:
    folders = (ROOT / "static" / "vendor", ROOT / "tests" / "vendor")
    files = {str(f.relative_to(ROOT)) for folder in folders for f in folder.iterdir()}
    kept = {f for f in files if not f.endswith((".LICENSE.txt", "VENDOR.txt"))}
    assert kept == set(entries())
    for path in kept:
        licence = path.removesuffix(".js").removesuffix(".css").removesuffix(".min")
        assert f"{licence}.LICENSE.txt" in files


def test_every_vendored_file_has_its_checksum() -> None:
    for path, (_name, _version, _licence, sha256) in entries().items():
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == sha256, path


def test_names_carry_the_version_and_pages_use_those_names() -> None:
    users = (ROOT / "templates" / "base.html").read_text()
    users += (ROOT / "static" / "css" / "base.css").read_text()
    for path, (_name, version, _licence, _sha256) in entries().items():
        if path.startswith("static/"):
            assert version in path
            assert Path(path).name in users
