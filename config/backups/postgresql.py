"""PostgreSQL: pg_dump writes the database, pg_restore reads it back.

A restore is one transaction: the product's tables are dropped, what pg_restore has to say is
executed, and older data are migrated. While it lasts, pages and workers wait. A failure or a kill
leaves the old data.
"""

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.db import OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from config.backups.errors import BackupError
from config.upgrades import is_pooled

# Whoever waits for a lock makes all others wait that come after, and two may wait for each other:
# so none is waited for long, and all are asked for again.
LOCK_SECONDS = 3
LOCK_TRIES = 10
_SERVICE = "planjury"


def server_version(connection: BaseDatabaseWrapper) -> int:
    """Return the server's major version."""
    return int(connection.get_database_version()[0])


def refuse_pooler(connection: BaseDatabaseWrapper) -> None:
    """Raise an error if the address is that of a pooler."""
    if is_pooled(connection):
        raise BackupError(
            "DATABASE_URL leads to a pooler (pooler=transaction); backups need the address of "
            "PostgreSQL itself."
        )


def find_tool(name: str, *, least: int) -> str:
    """Return the path of one of PostgreSQL's tools, or say that it is missing or too old."""
    path = shutil.which(name)
    if path is None:
        raise BackupError(
            f"{name} is not installed here; it comes with PostgreSQL's client (version {least} or "
            "later), for example postgresql-client of Debian."
        )
    output = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"(\d+)(?:\.\d+)*", output)
    if version is None or int(version[1]) < least:
        raise BackupError(
            f"{name} has version {version[1] if version else 'unknown'}, and PostgreSQL {least} "
            f"needs {least} or later: install the newer client, and put it first in PATH."
        )
    return path


def product_tables(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the product's tables that are there, whichever version made them."""
    prefixes = tuple(f"{config.label}_" for config in apps.get_app_configs()) + ("django_",)
    return sorted(
        name for name in connection.introspection.table_names() if name.startswith(prefixes)
    )


def dump_database(connection: BaseDatabaseWrapper, target: Path) -> None:
    """Have pg_dump write the product's tables to ``target``."""
    tool = find_tool("pg_dump", least=server_version(connection))
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        (schema,) = cursor.fetchone()
    tables = [f'--table={schema}."{name}"' for name in product_tables(connection)]
    with _service_file(connection) as environment:
        command = [tool, "--format=custom", "--no-owner", "--no-privileges", "--no-password"]
        done = subprocess.run(
            [*command, f"--file={target}", *tables],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise BackupError(_reported_error("pg_dump", done.stderr))


@contextmanager
def _service_file(connection: BaseDatabaseWrapper) -> Iterator[dict[str, str]]:
    """Yield an environment in which libpq connects as we do; no list of processes shows secrets."""
    given = connection.settings_dict
    parameters = {
        "dbname": given["NAME"],
        "user": given["USER"],
        "password": given["PASSWORD"],
        "host": given["HOST"],
        "port": given["PORT"],
        **given["OPTIONS"],
    }
    lines = [f"{name}={value}" for name, value in parameters.items() if value != ""]
    with tempfile.NamedTemporaryFile("w", prefix="planjury-pg-") as file:
        file.write("\n".join([f"[{_SERVICE}]", *lines, ""]))
        file.flush()
        yield {**os.environ, "PGSERVICEFILE": file.name, "PGSERVICE": _SERVICE}


def check_dump(connection: BaseDatabaseWrapper, dump: Path, *, made_on: int) -> None:
    """Raise an error if pg_restore cannot read a dump, or this server is older than its own."""
    server = server_version(connection)
    if made_on > server:
        raise BackupError(
            f"The backup was made on PostgreSQL {made_on}; this is PostgreSQL {server}, "
            "which may not be able to read it."
        )
    tool = find_tool("pg_restore", least=made_on)
    done = subprocess.run(
        [tool, "--list", str(dump)], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise BackupError(_reported_error("pg_restore", done.stderr))


def restore_dump(connection: BaseDatabaseWrapper, dump: Path) -> None:
    """Replace the product's tables by those of a dump; to be called within a transaction."""
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        tables = product_tables(connection)
        before = last_ids(connection)
        if tables:
            names = ", ".join(map(quote, tables))
            lock_tables(cursor, names)
            cursor.execute(f"DROP TABLE {names} CASCADE")
        for section in ("pre-data", "data", "post-data"):
            with _restore_script(dump, section) as script:
                _execute(cursor, script)
        # The script has it empty, and is qualified throughout.
        cursor.execute("RESET search_path")
        # Migrations may follow, which alter tables whose rows must have been checked by then.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    set_last_ids(connection, before)


@dataclass
class SampledTable:
    """A table of a dump: how many rows it has there, and how many of them were restored."""

    rows: int = 0
    restored: int = 0


def restore_sample(
    connection: BaseDatabaseWrapper, dump: Path, *, part: float, seed: int
) -> dict[str, SampledTable]:
    """Restore a random part of each table's rows, at least one; return the tables by name.

    All rows are read and unpacked. Keys and indexes are left out: the rows that a row refers to may
    not be in the sample, and indexes take most of the time.
    """
    tables: dict[str, SampledTable] = {}

    def chooser(name: str) -> Callable[[], bool]:
        table = tables[name] = SampledTable()
        chance = random.Random(f"{seed}:{name}")

        def choose() -> bool:
            table.rows += 1
            chosen = table.rows == 1 or chance.random() < part
            table.restored += chosen
            return chosen

        return choose

    with connection.cursor() as cursor:
        for section in ("pre-data", "data"):
            with _restore_script(dump, section) as script:
                _execute(cursor, script, chooser)
    return tables


def lock_tables(cursor: Any, names: str) -> None:
    """Keep everybody else from tables until the transaction ends."""
    cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
    for _ in range(LOCK_TRIES):
        with suppress(OperationalError), transaction.atomic():
            cursor.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            return
    raise BackupError("The database is too busy to be locked; try again, or stop the server.")


@contextmanager
def _restore_script(dump: Path, section: str) -> Iterator[IO[bytes]]:
    """Yield what pg_restore would send to a server for one section."""
    tool = find_tool("pg_restore", least=1)
    command = [tool, "--no-owner", "--no-privileges", f"--section={section}", "--file=-", str(dump)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        try:
            yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            code = process.wait()
        if code:
            errors.seek(0)
            raise BackupError(_reported_error("pg_restore", errors.read().decode(errors="replace")))


def _execute(
    cursor: Any, script: IO[bytes], chooser: Callable[[str], Callable[[], bool]] | None = None
) -> None:
    """Execute a script of pg_restore's: statements, and rows between COPY and a line with `\\.`.

    ``chooser`` returns for a table's name a function that says of each row whether to restore it.
    """
    statements: list[bytes] = []
    for line in script:
        if line.startswith(b"COPY ") and line.endswith(b" FROM stdin;\n"):
            _execute_statements(cursor, statements)
            choose = chooser(_copied_table(line)) if chooser else None
            with cursor.copy(line.decode()) as copy:
                for row in iter(script.readline, b"\\.\n"):
                    if not row:
                        raise BackupError("The dump in the backup is cut off.")
                    if choose is None or choose():
                        copy.write(row)
        elif not line.startswith((b"\\", b"--")):  # psql's own commands, and comments
            statements.append(line)
    _execute_statements(cursor, statements)


def _copied_table(line: bytes) -> str:
    """Return the table of a COPY statement, such as ``COPY public.benchmarks_run (id, …) …``."""
    return line.split()[1].decode().rpartition(".")[2].strip('"')


def _execute_statements(cursor: Any, statements: list[bytes]) -> None:
    text = b"".join(statements).decode()
    statements.clear()
    if text.strip():
        cursor.execute(text)


def _reported_error(tool: str, output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return f"{tool} failed: {lines[0].removeprefix(f'{tool}: error: ') if lines else 'no reason'}."


def last_ids(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """Return the last id that each table gave out."""
    last_by_table = {}
    with connection.cursor() as cursor:
        for table, sequence in _sequences(connection, cursor):
            cursor.execute(f"SELECT last_value FROM {sequence} WHERE is_called")
            if row := cursor.fetchone():
                last_by_table[table] = row[0]
    return last_by_table


def set_last_ids(connection: BaseDatabaseWrapper, last_ids: dict[str, int]) -> None:
    """Raise the last ids of tables to these, where they are lower.

    Somebody may still hold a row of the old data in memory.
    """
    with connection.cursor() as cursor:
        for table, sequence in _sequences(connection, cursor):
            if last := last_ids.get(table):
                cursor.execute(
                    f"SELECT setval(%s, greatest(%s, last_value)) FROM {sequence}", [sequence, last]
                )


def _sequences(connection: BaseDatabaseWrapper, cursor: Any) -> list[tuple[str, str]]:
    """Return tables with the quoted names of the sequences that number their rows."""
    sequences = []
    for table in product_tables(connection):
        for sequence in connection.introspection.get_sequences(cursor, table):
            cursor.execute(
                "SELECT pg_get_serial_sequence(%s, %s)", [f'"{table}"', sequence["column"]]
            )
            sequences.append((table, cursor.fetchone()[0]))
    return sequences
