"""Settings from environment variables, with an error that says what is wrong; the secret key."""

import os
import secrets
import tomllib
from collections.abc import Collection
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from config.private_files import FOLDER_MODE

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class BadVariable(ImproperlyConfigured):
    """An environment variable holds something that cannot be used."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"Environment variable {name} {problem}.")
        self.name = name


def text(name: str, *, default: str) -> str:
    """Return the variable as it stands, without the white space around it."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool) -> bool:
    """Read a switch: 1/true/yes/on or 0/false/no/off."""
    value = text(name, default="").lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise BadVariable(name, "must be one of 1, true, yes, on, 0, false, no, off")


def integer(name: str, *, default: int, least: int = 0, most: int | None = None) -> int:
    """Read a whole number from ``least`` to ``most``."""
    value = text(name, default="")
    if not value:
        return default
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    # int() alone would also take "1_000" and digits of other scripts.
    if not (value.isascii() and value.removeprefix("-").isdigit()):
        raise BadVariable(name, f"must be a whole number {limits}")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise BadVariable(name, f"must be a whole number {limits}")
    return number


def optional_integer(name: str, *, least: int = 0, most: int | None = None) -> int | None:
    """Read a whole number, or None where the variable is not set."""
    return integer(name, default=0, least=least, most=most) if text(name, default="") else None


def networks(name: str, *, default: Collection[str]) -> list[IPv4Network | IPv6Network]:
    """Read a list of IP addresses and networks such as ``10.0.0.0/8``."""
    addresses = []
    for word in words(name, default=default):
        try:
            addresses.append(ip_network(word))
        except ValueError:
            raise BadVariable(name, f"holds {word}, which is no IP address or network") from None
    return addresses


def choice(name: str, *, default: str, among: Collection[str]) -> str:
    """Read one of a few words."""
    value = text(name, default=default)
    if value not in among:
        raise BadVariable(name, f"must be one of {', '.join(sorted(among))}")
    return value


def words(name: str, *, default: Collection[str] = ()) -> list[str]:
    """Read a list separated by commas."""
    value = text(name, default="")
    if not value:
        return list(default)
    given = [word.strip() for word in value.split(",")]
    if not all(given):
        raise BadVariable(name, "must be a list separated by commas, without empty entries")
    if any(" " in word for word in given):
        raise BadVariable(name, "must be separated by commas, not by spaces")
    return given


def program(name: str) -> str:
    """Read the absolute path of a program, ``off``, or nothing where the variable is not set."""
    value = text(name, default="")
    if value in ("", "off"):
        return value
    path = Path(value).expanduser()
    if not (path.is_absolute() and path.is_file() and os.access(path, os.X_OK)):
        raise BadVariable(name, "must be the absolute path of a program that can be run, or off")
    return str(path)


def product_version(path: Path) -> str:
    """Return the version of this PlanJury, from its ``pyproject.toml``."""
    version: str = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"]
    return version


def folder(name: str, *, default: Path) -> Path:
    """Read an absolute folder; ``~`` is understood. It need not exist yet."""
    value = text(name, default="")
    if not value:
        return default
    path = Path(value).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise BadVariable(name, "must name a folder, but there is a file of that name")
    return path


def folders(name: str) -> list[Path]:
    """Read a list of folders separated by commas; ``~`` is understood. They need not exist."""
    return [
        Path(word.strip()).expanduser().absolute()
        for word in text(name, default="").split(",")
        if word.strip()
    ]


def data_folder(base: Path) -> Path:
    """Return the folder for everything that the app writes.

    It is ``PLANJURY_DATA_DIR``, ``var`` in a checkout, or the platform's folder for data: an
    upgrade would remove what lies in the folder of an installed package. The wheel leaves the
    Makefile out, which tells a checkout.
    """
    if (base / "Makefile").is_file():
        return folder("PLANJURY_DATA_DIR", default=base / "var")
    if text("PLANJURY_DATA_DIR", default=""):
        return folder("PLANJURY_DATA_DIR", default=base)
    try:
        return user_data_path("planjury")
    except RuntimeError:
        raise BadVariable(
            "PLANJURY_DATA_DIR", "must be set, because this account has no home folder"
        ) from None


def stored_secret_key(path: Path) -> str:
    """Return the key in ``path``, made first if there is none."""
    try:
        if not path.exists():
            _store(path, secrets.token_urlsafe(64))
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        # Settings are read before any system check could say so.
        raise ImproperlyConfigured(
            f"The secret key {path} cannot be read or made: {error.strerror}. Make its folder "
            "writable for this user, or name another in PLANJURY_DATA_DIR."
        ) from error


def _store(path: Path, key: str) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    try:
        draft.write_text(key + "\n", encoding="ascii")
        # A link, unlike a rename, fails when another process was first: all end with one key.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
