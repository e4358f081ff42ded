"""Read a study document; every field is validated before the import starts."""

import json
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from pydantic import ValidationError

from annotation.errors import Refused
from annotation.exports.columns import FORMAT, SCHEMA_VERSION
from annotation.exports.study_schema import StudyDocument, place_words
from benchmarks.core.digests import storable
from benchmarks.core.json_files import finite, refuse_constant
from benchmarks.core.problems import json_fault

DOCUMENT = "study.json"
MOST_PROBLEMS = 20
# Of a document in an archive, unpacked.
MOST_BYTES = 2 << 30
# What is no part of the study itself: meant for this installation alone, or derived from the rest.
NOT_OF_THE_STUDY = ("local", "columns", "rows", "events")


def read_document(path: Path) -> tuple[StudyDocument, str]:
    """Return a document from a file, from the folder or the archive of an export, and the digest of
    its contents.
    """
    source = path / DOCUMENT if path.is_dir() else path
    try:
        text = _archived(source) if is_zipfile(source) else source.read_text(encoding="utf-8")
        data = json.loads(text, parse_constant=refuse_constant, parse_float=finite)
    except KeyError:
        raise Refused("invalid", f"{source}: expected a member {DOCUMENT}, found none") from None
    except DAMAGED as error:
        raise Refused("invalid", damaged_member(source, DOCUMENT, error)) from None
    except OSError as error:
        raise Refused("invalid", f"{source} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Refused("invalid", f"{source} is not JSON: {json_fault(error)}") from None
    return check_document(data, text), digest_of(data)


# What reading a member of a damaged archive raises; the last one is for a member with a password.
DAMAGED = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def damaged_member(source: Path, name: str, error: Exception) -> str:
    """Return in words that a member of an archive cannot be read."""
    why = (str(error) or type(error).__name__)[:120]
    return f"{source}, {name}: expected a member that can be unpacked, found a damaged one ({why})"


def _archived(source: Path) -> str:
    with ZipFile(source) as archive:
        if archive.getinfo(DOCUMENT).file_size > MOST_BYTES:
            raise Refused("invalid", f"{DOCUMENT} is larger than {MOST_BYTES >> 30} GB")
        return archive.read(DOCUMENT).decode()


def check_document(data: Any, text: str) -> StudyDocument:
    """Return the document where every field is there and of its kind; else name the first
    problems.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Refused("invalid", f'this is no exported study: "format" must be "{FORMAT}"')
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        raise Refused(
            "invalid",
            f"this file has schema version {version!r}; known here is {SCHEMA_VERSION}: "
            "upgrade this installation, or export the study again",
        )
    if "blind" in data:
        raise Refused(
            "invalid",
            "this file holds one annotator's answers alone, not a study; let somebody export it "
            "who does not annotate in it",
        )
    if storable(data) != data:
        raise Refused("invalid", "this file holds a character that no database stores, such as NUL")
    try:
        return StudyDocument.model_validate_json(text)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        faults = [f"{place_words(problem['loc'])}: {problem['msg']}" for problem in problems]
        more = len(faults) - MOST_PROBLEMS
        rest = f"; and {more} more" if more > 0 else ""
        raise Refused("invalid", "; ".join(faults[:MOST_PROBLEMS]) + rest) from None


def digest_of(data: dict[str, Any]) -> str:
    """Return the same for every export of the same study at the same moment, wherever it was
    made.
    """
    kept = {name: part for name, part in data.items() if name not in NOT_OF_THE_STUDY}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
