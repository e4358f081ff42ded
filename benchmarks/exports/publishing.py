"""What goes with published data: schemas, codebook, checksums, fields for a repository."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from benchmarks.core.errors import ExportRefused
from benchmarks.core.schemas import Checked, schema_words
from benchmarks.exports.ratings import PersonRating
from benchmarks.formats.planjury_rows import ROWS
from benchmarks.tables import csv_lines

Json = dict[str, Any]
Member = tuple[str, Iterable[str]]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
UNKNOWN = "unknown"
# As the Hugging Face Hub writes them; the header of a card is YAML, which takes no other text.
LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,59}")
NOTE = """
## Before you publish it

Set `license` in the header of this card and in `.zenodo.json` (`unknown` is no licence), and name
the creators there. `doi` is empty: write the one that your repository gives you. Comments and
answers in words stand here as they were written; read them first. `codebook.csv` says what each
field holds, `schemas` has the JSON Schema of each file, and `sha256sum -c SHA256SUMS` compares the
data with what was exported.
"""


def check_licence(licence: str) -> None:
    """Refuse what cannot be the name of a licence."""
    if not LICENCE.fullmatch(licence):
        raise ExportRefused(
            f"{licence[:80]!r} is no licence as the Hugging Face Hub names them, such as cc-by-4.0 "
            "or apache-2.0"
        )


def schema_document(key: str, version: int, schema: Mapping[str, Any]) -> Json:
    """Return a JSON schema as its file holds it: with its dialect, its name and its version."""
    return {"$schema": DIALECT, "$id": f"urn:planjury:{key}:{version}", **schema}


def file_name(schema: Mapping[str, Any]) -> str:
    """Return the name of a schema's file, such as ``trajectory-row.v1.json``."""
    key, version = schema["$id"].split(":")[2:]
    return f"{key}.v{version}.json"


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


TRAJECTORY_ROW = schema_document("trajectory-row", 1, ROWS.schema)
TRAJECTORY_RATING = schema_document(
    "trajectory-rating", 1, Checked[PersonRating](PersonRating).schema
)


def published(
    files: Iterable[Member], schemas: Mapping[str, Json], title: str, licence: str = UNKNOWN
) -> Iterator[Member]:
    """Yield (name, texts) of the files, and of what goes with them; checksums come last.

    ``schemas`` has the schema of each file, by its name.
    """
    sums: dict[str, str] = {}
    written: list[str] = []

    def summed(name: str, texts: Iterable[str]) -> Iterator[str]:
        digest = sha256()
        for text in texts:
            digest.update(text.encode())
            yield text
        sums[name] = digest.hexdigest()

    for name, texts in files:
        written.append(name)
        yield name, summed(name, texts)
    known = {name: schema for name, schema in schemas.items() if name in written}
    rest: dict[str, Iterable[str]] = {
        "codebook.csv": csv_lines(codebook_rows(known)),
        ".zenodo.json": [_repository_fields(title, licence)],
        **{f"schemas/{file_name(one)}": [schema_text(one)] for one in known.values()},
    }
    for name, texts in rest.items():
        yield name, summed(name, texts)
    yield "SHA256SUMS", (f"{digest}  {name}\n" for name, digest in sums.items())


def codebook_rows(schemas: Mapping[str, Json]) -> Iterator[list[str]]:
    """Yield a heading, then one row for each field of each file: its type and what it means."""
    yield ["file", "field", "type", "meaning"]
    for file, schema in schemas.items():
        for name, field in schema["properties"].items():
            yield [file, name, schema_words(field, schema), field.get("description", "")]


def _repository_fields(title: str, licence: str) -> str:
    fields = {
        "title": title,
        "upload_type": "dataset",
        "description": "",
        "creators": [],
        "license": licence,
        "doi": "",
    }
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
