"""The formats that can be imported: the product's own, and those of plug-ins.

Adding one of our own is a module beside its neighbours and one line here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from benchmarks.core import plugins
from benchmarks.core.errors import UnknownName
from benchmarks.core.plugins import PlugIn, PlugInFault
from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.formats import continuations
from benchmarks.formats.bundles import ATIF, Bundle, Unit, bundle, survey
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import File, FileSource, refused
from benchmarks.formats.trajectory import ImportedTrajectory, count_turns
from benchmarks.formats.zipped import Archive

FORMATS: dict[str, tuple[str, str]] = {
    "atif": ("ATIF (Harbor)", "benchmarks.formats.atif"),
    "tau2": ("tau2-bench results", "benchmarks.formats.tau2"),
    "inspect": ("Inspect log", "benchmarks.formats.inspect"),
    "otel": ("OpenTelemetry spans", "benchmarks.formats.traces.otel"),
    "tau-bench": ("tau-bench trajectories", "benchmarks.formats.tau_bench"),
    "anthropic": ("Anthropic Messages", "benchmarks.formats.sessions.anthropic"),
    "responses": ("OpenAI Responses", "benchmarks.formats.sessions.responses"),
    "claude-code": ("Claude Code session", "benchmarks.formats.sessions.claude_code"),
    "codex": ("Codex rollout", "benchmarks.formats.sessions.codex"),
    "gemini-cli": ("Gemini CLI session", "benchmarks.formats.sessions.gemini_cli"),
    "pi": ("Pi session or session trace", "benchmarks.formats.sessions.pi"),
    "swe-agent": ("SWE-agent trajectory", "benchmarks.formats.sessions.swe_agent"),
    "mini-swe-agent": ("mini-SWE-agent trajectory", "benchmarks.formats.sessions.mini_swe_agent"),
    "openhands": ("OpenHands events", "benchmarks.formats.sessions.openhands"),
    "sharegpt": ("ShareGPT conversations", "benchmarks.formats.sessions.sharegpt"),
    "agent-data": ("Agent data protocol", "benchmarks.formats.sessions.agent_data"),
    "openinference": ("OpenInference spans", "benchmarks.formats.traces.openinference"),
    "openllmetry": ("OpenLLMetry spans", "benchmarks.formats.traces.openllmetry"),
    "langfuse": ("Langfuse traces", "benchmarks.formats.traces.langfuse"),
    "langsmith": ("LangSmith runs", "benchmarks.formats.traces.langsmith"),
    "openai-chat": ("OpenAI chat messages", "benchmarks.formats.openai_chat"),
}
# Formats whose files may be of a more particular one; they do not give way to each other.
GENERAL = ("openai-chat", "sharegpt")
MOST_ATTEMPTS = 30_000
MOST_FILES = 100_000
_PLAIN = (".json", ".jsonl", ".ndjson", ".traj")
SUFFIXES = (*_PLAIN, *(f"{suffix}.gz" for suffix in _PLAIN))
LOGS = ".eval"  # an archive that is one file of Inspect


class Format(Protocol):
    """The functions that a module of a format offers. Those of plug-ins have TITLE and ABOUT.

    Where several files belong together, it also has ``whole``, which returns a source with all that
    belongs to it, and nothing else.
    """

    def recognises(self, shape: Shape) -> bool:
        """Return whether a file of this shape is of this format."""

    def read(
        self, source: FileSource, problems: Problems, header: dict[str, Any]
    ) -> Iterator[ImportedTrajectory]:
        """Yield its trajectories one by one; notes faults, and in ``header`` what holds for all."""


@dataclass(frozen=True)
class CheckedFile:
    """The findings of the first pass over a sound file."""

    format: str
    checksum: str
    trajectories: int
    turns: int
    header: dict[str, Any] = field(default_factory=dict)


def get_format(name: str) -> Format:
    """Return the format registered under ``name``; its module is imported on first use."""
    if name not in FORMATS:
        raise UnknownName("format", name, sorted(FORMATS))
    module: Format = plugins.resolve(FORMATS[name][1])
    return module


def open_source(path: Path, others: Sequence[Path] = ()) -> FileSource:
    """Return a file, an archive or a folder; or several files that were given together."""
    if others:
        return FileSource(path.name, _named((path, *others)))
    if path.is_dir():
        return FileSource(path.name, _files(path))
    file = File(path)
    with file.raw() as raw:
        zipped = raw.read(4) == b"PK\x03\x04"
    return Archive(path) if zipped else file


def together(paths: Sequence[Path], name: str) -> list[list[Path]]:
    """Put files that are parts of one another into one list, all others alone; for ATIF."""
    files = [path for path in dict.fromkeys(paths) if name in ("", "atif") and path.is_file()]
    atif = [path for path in files if _is_atif(path)]
    if len(atif) < 2:
        return [[path] for path in paths]
    members = _named(atif)
    named = dict(zip(members, atif, strict=True))
    groups = continuations.groups(FileSource("", members))
    alone = [[path] for path in paths if path not in atif]
    return alone + [[named[file] for file in group] for group in groups]


def _is_atif(path: Path) -> bool:
    try:
        return detect(path) == "atif"
    except FileRefused:
        return False


def _named(paths: Sequence[Path]) -> dict[str, FileSource]:
    """Name files by their names; those of one name by their folders too."""
    counts = Counter(path.name for path in paths)
    return {path.name if counts[path.name] == 1 else path.as_posix(): File(path) for path in paths}


def _files(folder: Path) -> dict[str, FileSource]:
    """Return the files of a folder and of all folders in it, without those that links lead to, by
    name.
    """
    files: dict[str, FileSource] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.endswith((*SUFFIXES, LOGS)) and path.is_file() and not path.is_symlink():
            files[name] = File(path, name)
        if len(files) > MOST_FILES:
            raise refused(folder.name, f"at most {MOST_FILES} files", Unquoted("more"))
    if not files:
        raise refused(folder.name, "a file, or a folder with JSON files", Unquoted("none"))
    return {name: _opened(file) for name, file in sorted(files.items())}


def _opened(file: FileSource) -> FileSource:
    """Return a log of Inspect in a folder as an archive."""
    if not file.name.endswith(LOGS) or not isinstance(file, File):
        return file
    try:
        return Archive(file.path)
    except FileRefused:  # it is left out with this reason when it is read
        return file


def detect(path: Path) -> str | None:
    """Return the name of the format that a file seems to be of, or None."""
    return _detect(open_source(path))


def _detect(source: FileSource) -> str | None:
    """Return the one format that claims a file; several claims are refused, never guessed."""
    claims = _claims(source)
    if len(claims) > 1:
        words = " or ".join(f"{FORMATS[name][0]} ({name})" for name in claims)
        raise refused(source.name, "one format; name it with --format", Unquoted(f"maybe {words}"))
    return claims[0] if claims else None


def _claims(source: FileSource) -> list[str]:
    """Return the formats that recognise a file; a general one only where no other does."""
    shape = shape_of(source)
    claims = [name for name in FORMATS if _recognises(name, shape)]
    return [name for name in claims if name not in GENERAL] or claims


def _recognises(name: str, shape: Shape) -> bool:
    """Ask a format about a shape; that of a plug-in may fail, and then does not recognise it."""
    try:
        return get_format(name).recognises(shape)
    except Exception as error:
        plug_in = plugins.find_plug_in("formats", name)
        if plug_in is None:
            raise
        plugins.note_failure(plug_in, error)
        return False


def settle(source: FileSource, name: str) -> tuple[str, FileSource]:
    """Return the format of a source, recognised where none is named, and the source with all its
    parts.
    """
    if name:
        get_format(name)
    if source.members and not is_one(source):
        return bundle(source, units_of(source), name, _fault)
    detected = name if name and name in _claims(source) else _detect(source)
    if not name and detected is None:
        known = ", ".join(sorted(FORMATS))
        raise refused(source.name, f"one of the formats {known}", Unquoted("none of them"))
    if name and detected is not None and detected != name:
        title, right = FORMATS[name][0], FORMATS[detected][0]
        advice = f"what looks like {right}; use --format {detected}"
        raise refused(source.name, f"{title} ({name})", Unquoted(advice))
    name = name or str(detected)
    whole = getattr(get_format(name), "whole", None)
    return name, source if whole is None else whole(source)


def is_one(source: FileSource) -> bool:
    """Return whether a folder or an archive is of one format as a whole, as those of tau2 are."""
    claims = _claims(source)
    if claims != [ATIF]:
        return bool(claims)
    return all(_is_atif_source(member) for member in source.members.values())


def _is_atif_source(source: FileSource) -> bool:
    try:
        return _detect(source) == ATIF
    except FileRefused:
        return False


def units_of(source: FileSource) -> list[Unit]:
    """Return the units in a folder or an archive, each with its format or why it has none."""
    known = {n: m for n, m in source.members.items() if n.endswith((*SUFFIXES, LOGS))}
    return survey(FileSource(source.name, known), _detect)


def _fault(unit: Unit) -> str:
    """Read a unit; return why it cannot be imported, or nothing."""
    problems = Problems()
    count = 0
    try:
        for _ in get_format(unit.format).read(unit.source, problems, {}):
            count += 1
    except FileRefused as refusal:
        problems.extend(refusal)
    if problems.total:
        return str(problems.kept[0])
    return "" if count else "no trajectory in it"


def check_file(path: Path, name: str, others: Sequence[Path] = (), agent: str = "") -> CheckedFile:
    """Go through the whole file; raise ``FileRefused`` with its faults, if it has any.

    ``agent`` is who has made what the file does not say who made.
    """
    name, source = settle(open_source(path, others), name)
    problems = Problems()
    header: dict[str, Any] = {}
    checksum, count, turns = source.checksum(), 0, 0
    try:
        for trajectory in numbered(source, name, problems, header, agent):
            count += 1
            turns += count_turns(trajectory.messages)
    except FileRefused as refusal:
        problems.extend(refusal)
    if not count and not problems.total:
        problems.add(source.name, "at least one trajectory", Unquoted("none"))
    problems.check()
    return CheckedFile(name, checksum, count, turns, header)


def formats_in(source: FileSource, name: str) -> list[str]:
    """Return the formats by which a source is imported, one after the other: the one that is named
    (or recognised, where empty), or all those of a folder or an archive with files of several.
    """
    if name or not source.members or is_one(source):
        return [name]
    formats = sorted({unit.format for unit in units_of(source) if unit.format})
    return formats if len(formats) > 1 else [name]


def check_upload(path: str, name: str, agent: str) -> None:
    """Refuse a file with faults (for `benchmarks.core.limited_process`); one of several formats
    where none of them can be imported.
    """
    refusals = []
    formats = formats_in(open_source(Path(path)), name)
    for one in formats:
        try:
            check_file(Path(path), one, agent=agent)
        except FileRefused as refusal:
            refusals.append(refusal)
    if len(refusals) == len(formats):
        raise refusals[0]


def read_source(
    source: FileSource, name: str, header: dict[str, Any], agent: str = ""
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a source up to its first fault, which is raised."""
    problems = Problems()
    count = 0
    for trajectory in numbered(source, name, problems, header, agent):
        problems.check()
        count += 1
        yield trajectory
    problems.check()
    if not count:
        raise refused(source.name, "at least one trajectory", Unquoted("none"))


def numbered(
    source: FileSource, name: str, problems: Problems, header: dict[str, Any], agent: str
) -> Iterator[ImportedTrajectory]:
    """Number trajectories with attempts: those that the file gives, each once, or in its order."""
    # Hashes of eight bytes stand for the keys, so that millions of them fit into memory.
    seen: set[int] = set()
    counts: dict[int, int] = {}
    units = source.units if isinstance(source, Bundle) else [source]
    if isinstance(source, Bundle) and source.left_out:
        header["left_out_files"] = [f"{file}: {why}" for file, why in source.left_out.items()]
    reader = get_format(name)
    read = (reader.read(unit, problems, header) for unit in units)
    for trajectory in chain.from_iterable(read):
        task = hash((agent_title(trajectory.agent or agent), trajectory.task.id))
        attempt = trajectory.attempt
        if attempt is None:
            attempt = counts[task] = counts.get(task, 0) + 1
        mark = hash((task, attempt))
        if mark in seen or attempt > MOST_ATTEMPTS:
            words = f"{source.name}, task {trajectory.task.id[:60]}, attempt {attempt}"
            if attempt > MOST_ATTEMPTS:
                most = f"at most {MOST_ATTEMPTS:,} attempts of an agent at a task"
                problems.add(words, most, Unquoted("more; import parts under names of their own"))
            else:
                problems.add(words, "each attempt once", Unquoted("a second one"))
            continue
        seen.add(mark)
        trajectory.attempt = attempt
        yield trajectory


def agent_title(given: str) -> str:
    """Return an agent's name as far as it is kept; two that are alike so far are one agent."""
    return given[:120]


def _add(plug_in: PlugIn, module: Any) -> None:
    """Register the format of a plug-in."""
    plugins.check_name(plug_in, "[a-z][a-z0-9-]{0,29}", plug_in.name in FORMATS)
    functions, texts = ("recognises", "read"), ("TITLE", "ABOUT")
    lacking = [name for name in functions if not callable(getattr(module, name, None))]
    lacking += [name for name in texts if not isinstance(getattr(module, name, None), str)]
    if lacking:
        raise PlugInFault(
            f"{plug_in.target} has no {' and no '.join(lacking)}.",
            "Add the functions recognises and read, and the texts TITLE and ABOUT.",
        )
    FORMATS[plug_in.name] = (module.TITLE, plug_in.target)


# The last line: a plug-in may import what stands above.
plugins.load("formats", _add)
