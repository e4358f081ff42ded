"""Write what every analysis page and every command says about the recorded world.

``python -m tests.golden`` prints what differs from the files in ``expected/``; ``--write`` makes
them anew, ``--record`` the recorded world. A commit that changes them says why.
"""

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"

EXPECTED = Path(__file__).parent / "expected"


def differences(expected: Path, written: Path, only: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines in which two folders differ, in all files or in those of these names."""
    folders = (expected, written)
    for name in sorted({p.relative_to(one) for one in folders for p in one.rglob("*.txt")}):
        if only and name.stem not in only:
            continue
        paths = [folder / name for folder in folders]
        before, after = (p.read_text("utf-8").splitlines() if p.exists() else [] for p in paths)
        yield from difflib.unified_diff(before, after, str(name), "now", lineterm="", n=1)


def main() -> int:
    """Compare, write or record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="make the expected files anew")
    parser.add_argument("--record", action="store_true", help="make the recorded world anew")
    parser.add_argument("only", nargs="*", help="names of files, such as leaderboard (all)")
    options = parser.parse_args()

    import django
    from django.test.utils import setup_test_environment

    django.setup()
    setup_test_environment()
    from tests.golden import files, recording

    if options.record:
        recording.record_world()
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files.write(Path(folder), options.only)
        if options.write:
            if not options.only:
                shutil.rmtree(EXPECTED, ignore_errors=True)
            shutil.copytree(folder, EXPECTED, dirs_exist_ok=True)
            return 0
        changed = list(differences(EXPECTED, Path(folder), options.only))
    print("\n".join(changed))
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
