"""The index in the database: one row for each piece of a turn, and one for each task's prompt.

Rows are numbered by what they are about, so that a search needs no join. Texts themselves stay
where they are; the index holds which words stand at which places. On SQLite it is FTS5 without
contents, on PostgreSQL a tsvector under GIN. Both get the words of
`analysis.search.query` and take them as they are, so that both find the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from analysis.search.query import MOST_IN_PHRASE, SearchTerm, words_of

TURNS, TASKS = "analysis_search_turns", "analysis_search_tasks"
# A row's number: the trajectory, 15 bits of its turn, 9 bits of the piece of the turn's text.
TURN_BITS, PIECE_BITS = 15, 9
SHIFT = TURN_BITS + PIECE_BITS
# Under PostgreSQL's limits for one text: 16,383 places, 256 of one word, and a megabyte.
PIECE = 3000
MOST_PIECES = 1 << PIECE_BITS
# Stands between plan, feedback and calls, that no phrase reaches from one into the other. Nobody
# can ask for it: it is no word.
BREAK = "¶"
# What of turns is taken in; under another name all are taken in anew. It stands as the word of a
# task that there is not, so nothing is found by it.
FORMAT, NO_TASK = "format2", 0

Row = tuple[int, list[str]]


def first_row(trajectory: int, turn: int = 0) -> int:
    """Return the number of the first row of a turn; without one, what no row of earlier ones
    reaches.
    """
    return trajectory << SHIFT | turn << PIECE_BITS


def turn_of(row: int) -> tuple[int, int]:
    """Return the trajectory and the turn that a row is about."""
    return row >> SHIFT, row >> PIECE_BITS & (1 << TURN_BITS) - 1


def rows_of_turn(
    trajectory: int, turn: int, text: str, feedback: str, calls: str = ""
) -> Iterator[Row]:
    """Yield the rows of a turn; at least one, so that it is known to be there."""
    words = words_of(text)
    for more in (feedback, calls):
        if more:
            words += [BREAK, *words_of(more)]
    start = first_row(trajectory, turn)
    for piece in range(MOST_PIECES):
        at = piece * PIECE
        yield start + piece, words[at : at + PIECE + MOST_IN_PHRASE]
        if at + PIECE >= len(words):
            break


def row_of_task(task: int, name: str, prompt: str) -> Row:
    """Return the row of a task: what it is called, and its prompt; of a very long one the
    beginning.
    """
    return task, [*words_of(name), BREAK, *words_of(prompt)][:PIECE]


# --- Writing ----------------------------------------------------------------------------------


def create_index(using: BaseDatabaseWrapper) -> None:
    """Make the tables; a migration does, on the database that it is about."""
    for table in (TURNS, TASKS):
        _run(using, *_CREATE[using.vendor], table=table)


def drop_index(using: BaseDatabaseWrapper) -> None:
    """Take the tables away."""
    for table in (TURNS, TASKS):
        _run(using, "DROP TABLE {table}", table=table)


def clear_index() -> None:
    """Forget all rows; those to come are made as turns are made into rows now."""
    for table in (TURNS, TASKS):
        _run(connection, _CLEAR[connection.vendor], table=table)
    add_rows(TASKS, [(NO_TASK, [FORMAT])])


def is_current() -> bool:
    """Return whether the rows are made as turns are made into rows now."""
    return bool(tasks_with([SearchTerm((FORMAT,))], [NO_TASK]))


def add_rows(table: str, rows: Iterable[Row]) -> None:
    """Store rows; those that are there stay as they are."""
    pack = " ".join if _on_sqlite() else _vector
    packed = [(number, pack(words)) for number, words in rows]
    with connection.cursor() as cursor:
        if _on_sqlite():
            # Twice the same row would count its words twice, and FTS5 takes it.
            low, high = packed[0][0], packed[-1][0]
            cursor.execute(f"SELECT rowid FROM {table} WHERE rowid BETWEEN %s AND %s", [low, high])
            there = {number for (number,) in cursor.fetchall()}
            packed = [row for row in packed if row[0] not in there]
        cursor.executemany(_ADD[connection.vendor].format(table=table), packed)


_CREATE = {
    "sqlite": (
        "CREATE VIRTUAL TABLE {table} "
        "USING fts5(words, content='', tokenize='ascii', prefix='2 3')",
    ),
    "postgresql": (
        "CREATE TABLE {table} (id bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX {table}_words ON {table} USING gin (words)",
    ),
}
_ADD = {
    "sqlite": "INSERT INTO {table} (rowid, words) VALUES (%s, %s)",
    "postgresql": (
        "INSERT INTO {table} (id, words) VALUES (%s, %s::tsvector) ON CONFLICT DO NOTHING"
    ),
}
_CLEAR = {
    "sqlite": "INSERT INTO {table} ({table}) VALUES ('delete-all')",
    "postgresql": "TRUNCATE {table}",
}


def _run(using: BaseDatabaseWrapper, *statements: str, table: str) -> None:
    with using.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement.format(table=table))


def _vector(words: Sequence[str]) -> str:
    """Return words as the text of a tsvector: made here, so that no parser sees words of its
    own.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for place, word in enumerate(words, start=1):
        places[word].append(str(place))
    return " ".join(f"'{word}':{','.join(where)}" for word, where in places.items())


# --- Reading ----------------------------------------------------------------------------------


def trajectories_with(terms: Sequence[SearchTerm]) -> list[list[str]]:
    """Return for each term the ids of the trajectories with it, as texts with commas between them:
    one of turns, one of tasks, with repetitions.

    As texts they take a tenth of the time that rows take.
    """
    if not terms:
        return []
    joined, row, match = _READ[connection.vendor]
    in_turns = f"SELECT {joined.format(f'{row} >> {SHIFT}')} FROM {TURNS} WHERE {match}"
    in_tasks = (
        f"SELECT {joined.format('id')} FROM benchmarks_trajectory "
        f"WHERE task_id IN (SELECT {row} FROM {TASKS} WHERE {match})"
    )
    lookup = f"({in_turns.format(table=TURNS)}), ({in_tasks.format(table=TASKS)})"
    asked = [query_text(term) for term in terms]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join([lookup] * len(terms))}", [text for text in asked for _ in range(2)]
        )
        texts = cursor.fetchone()
    return [[text for text in texts[i : i + 2] if text] for i in range(0, len(texts), 2)]


def rows_with(terms: Sequence[SearchTerm], trajectories: Sequence[int]) -> list[tuple[int, int]]:
    """Return (number of the term, row) of all rows of these trajectories' turns with a term."""
    if not (terms and trajectories):
        return []
    asked = [(number, query_text(term)) for number, term in enumerate(terms)]
    lows = [(first_row(pk),) for pk in trajectories]
    with connection.cursor() as cursor:
        cursor.execute(
            _ROWS[connection.vendor].format(
                table=TURNS,
                asked=_values(asked, "(%s, %s)" if _on_sqlite() else "(%s::int, %s::tsquery)"),
                lows=_values(lows, "(%s)" if _on_sqlite() else "(%s::bigint)"),
                width=first_row(1),
            ),
            [value for row in (*asked, *lows) for value in row],
        )
        return [(int(number), row) for number, row in cursor.fetchall()]


def _values(rows: Sequence[object], marks: str) -> str:
    return ", ".join([marks] * len(rows))


def tasks_with(terms: Sequence[SearchTerm], tasks: Sequence[int]) -> list[tuple[int, int]]:
    """Return (number of the term, task) of those of the tasks whose prompts have one of the
    terms.
    """
    if not (terms and tasks):
        return []
    _, row, match = _READ[connection.vendor]
    marks = ", ".join(["%s"] * len(tasks))
    lookup = (
        f"SELECT %s, {row} FROM {TASKS} WHERE {match.format(table=TASKS)} AND {row} IN ({marks})"
    )
    values: list[int | str] = []
    for number, term in enumerate(terms):
        values += [number, query_text(term), *tasks]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([lookup] * len(terms)), values)
        return [(int(number), task) for number, task in cursor.fetchall()]


def turns_there(low: int, high: int) -> dict[int, int]:
    """Return the last turn with a row of each trajectory from ``low`` to ``high`` that has rows."""
    row = "rowid" if _on_sqlite() else "id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {row} >> {SHIFT}, MAX({row}) FROM {TURNS} "
            f"WHERE {row} >= %s AND {row} < %s GROUP BY 1",
            [first_row(low), first_row(high + 1)],
        )
        return {trajectory: turn_of(last)[1] for trajectory, last in cursor.fetchall()}


def remove_turns(trajectories: Sequence[int]) -> None:
    """Delete the rows of these trajectories.

    FTS5 cannot delete from a table that keeps no texts. There the rows stay until the index is made
    anew; nothing finds them, because numbers of trajectories are never used again.
    """
    if _on_sqlite():
        return
    with connection.cursor() as cursor:
        for trajectory in trajectories:
            # By the range of its rows, which the index of the table finds without reading others.
            cursor.execute(
                f"DELETE FROM {TURNS} WHERE id >= %s AND id < %s",
                [first_row(trajectory), first_row(trajectory + 1)],
            )


def tasks_there(tasks: Sequence[int]) -> set[int]:
    """Return those of the tasks that have their row."""
    row = "rowid" if _on_sqlite() else "id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {row} FROM {TASKS} WHERE {row} IN ({', '.join(['%s'] * len(tasks))})",
            list(tasks),
        )
        return {number for (number,) in cursor.fetchall()}


def query_text(term: SearchTerm) -> str:
    """Return a term in the words of the engine. Words are letters and digits, so nothing is to
    escape.
    """
    if _on_sqlite():
        return f'"{" ".join(term.words)}"{" *" * term.begins}'
    return " <-> ".join(f"'{word}'" for word in term.words) + ":*" * term.begins


# How ids become one text, what a row's number is called, and how rows are matched.
_READ = {
    "sqlite": ("group_concat({})", "rowid", "{table} MATCH %s"),
    "postgresql": ("string_agg(({})::text, ',')", "id", "words @@ %s::tsquery"),
}
# The rows of each trajectory are read by their numbers and matched then: an index of words would be
# gone through anew for every trajectory. FTS5 looks for words and numbers at once.
_ROWS = {
    "sqlite": (
        "WITH asked (term, query) AS (VALUES {asked}), lows (low) AS (VALUES {lows}) "
        "SELECT term, rowid FROM asked CROSS JOIN lows CROSS JOIN {table} "
        "WHERE {table} MATCH query AND rowid >= low AND rowid < low + {width}"
    ),
    "postgresql": (
        "WITH asked (term, query) AS (VALUES {asked}), lows (low) AS (VALUES {lows}) "
        "SELECT term, id FROM lows CROSS JOIN LATERAL ("
        "SELECT id, words FROM {table} WHERE id >= low AND id < low + {width} OFFSET 0"
        ") rows JOIN asked ON rows.words @@ asked.query"
    ),
}


def _on_sqlite() -> bool:
    return bool(connection.vendor == "sqlite")
