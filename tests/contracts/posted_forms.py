"""Reading the forms of a page as a browser would, and filling them with hostile values."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import quote_plus, urljoin, urlsplit

# A value is bytes, because text cannot hold what is no UTF-8.
Pairs = list[tuple[str, bytes]]
BOUNDARY = b"0123456789abcdef"
LONG = b"x" * 2_000_000
NESTED = b"[" * 100_000
HOSTILE: dict[str, list[bytes]] = {
    "empty": [b""],
    "missing": [],
    "twice": [b"1", b"2"],
    "NUL": [b"a\x00b"],
    "half a surrogate pair": [b"a\xed\xa0\x80b"],
    "not UTF-8": [b"\xff\xfe"],
    "1e400": [b"1e400"],
    "NaN": [b"nan"],
    "20 digits": [b"99999999999999999999"],
    "5,000 digits": [b"9" * 5000],
    "-1": [b"-1"],
    "a superscript": ["²".encode()],
    "no date": [b"9999-99-99"],
    "the first date": [b"0001-01-01"],
    "the first minute": [b"0001-01-01T00:00"],
    "the last minute": [b"9999-12-31T23:59"],
    "a script": [b"<script>alert(1)</script>"],
    "JSON: a list": [b"[]"],
    "JSON: null": [b"null"],
    "JSON: an object": [b'{"a": 1}'],
    "JSON: 1e400": [b'{"a": 1e400}'],
    "JSON: half a surrogate pair": [b'["\\ud800"]'],
    "YAML: a list": [b"- 1\n- [2]\n"],
    "YAML: no date": [b"a: 2001-99-99\n"],
    "nested": [NESTED],
    "long": [LONG],
}
# What takes the place of a value within a field that holds JSON.
WITHIN: dict[str, str] = {
    "null": "null",
    "a list": "[]",
    "an object": "{}",
    "a text": '"x"',
    "NUL": '"a\\u0000b"',
    "half a surrogate pair": '"\\ud800"',
    "20 digits": "99999999999999999999",
    "-1": "-1",
    "1e400": "1e400",
    "true": "true",
    "nested": "[" * 500 + "]" * 500,
}


@dataclass
class PostForm:
    """A form that a page offers: its action, and its fields with values that look right."""

    action: str
    of_files: bool = False
    pairs: Pairs = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    buttons: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of the fields, each once, in the order of the page."""
        names = dict.fromkeys(name for name, _ in [*self.pairs, *self.buttons[:1]])
        names.pop("csrfmiddlewaretoken", None)  # read by Django alone
        return list(names)


class FormReader(HTMLParser):
    """Collects the forms of a page that are sent by POST."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.forms: list[PostForm] = []
        self._by_id: dict[str, PostForm] = {}
        self._open: PostForm | None = None
        self._later: list[tuple[str, str, dict[str, str]]] = []
        self._select: tuple[PostForm, str, list[tuple[bytes, bool]]] | None = None
        self._area: tuple[PostForm, str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        posts = given.get("method", "").lower() == "post" or "hx-post" in given
        if posts and (tag == "form" or "hx-post" in given):
            action = given.get("hx-post") or given.get("action") or self.url
            made = PostForm(urlsplit(urljoin(self.url, action))._replace(fragment="").geturl())
            made.of_files = "multipart" in given.get("enctype", "")
            self.forms.append(made)
            if tag == "form":
                self._open = made
                self._by_id[given.get("id", "")] = made
        elif tag == "option" and self._select is not None:
            self._select[2].append((given.get("value", "").encode(), "selected" in given))
        elif tag in ("input", "select", "textarea", "button") and "name" in given:
            form = self._by_id.get(given["form"]) if "form" in given else self._open
            if form is not None:
                self._take(form, tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select" and self._select is not None:
            form, name, options = self._select
            chosen = [value for value, selected in options if selected and value]
            form.pairs.append((name, next(iter([*chosen, *(v for v, _ in options if v)]), b"")))
            self._select = None
        elif tag == "textarea" and self._area is not None:
            form, name, text = self._area
            form.pairs.append((name, ("".join(text).strip() or "A text.").encode()))
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[2].append(data)

    def _take(self, form: PostForm, tag: str, given: dict[str, str]) -> None:
        name, value, kind = given["name"], given.get("value", ""), given.get("type", "text")
        if tag == "select":
            self._select = (form, name, [])
        elif tag == "textarea":
            self._area = (form, name, [])
        elif tag == "button" or kind == "submit":
            form.buttons.append((name, value.encode()))
        elif kind == "file":
            form.files.add(name)
            form.pairs.append((name, b"[]"))
        elif kind == "radio":
            there = next((i for i, (key, _) in enumerate(form.pairs) if key == name), None)
            if there is None:
                form.pairs.append((name, value.encode()))
            elif "checked" in given:
                form.pairs[there] = (name, value.encode())
        else:
            form.pairs.append((name, (value or _usual(kind, name)).encode()))


def _usual(kind: str, name: str) -> str:
    by_kind = {
        "number": "1",
        "date": "2026-01-01",
        "datetime-local": "2026-01-01T00:00",
        "email": "somebody@example.org",
        "url": "http://127.0.0.1:9/v1",
        "checkbox": "on",
        "hidden": "",
    }
    return by_kind.get(kind, "somebody" if "user" in name else "A name")


def forms_of(url: str, page: str) -> list[PostForm]:
    """Return the forms of a page that are sent by POST to this site."""
    reader = FormReader(url)
    reader.feed(page)
    return [form for form in reader.forms if not urlsplit(form.action).netloc]


def cases(form: PostForm) -> Iterator[tuple[str, Pairs]]:
    """Yield the form as it is, then with one field replaced at a time, each with a name."""
    for button in form.buttons or [("", b"")]:
        pressed = [*form.pairs, button] if button[0] else form.pairs
        yield f"as it is, {button[0]}={button[1].decode()}", pressed
    usual = [*form.pairs, *form.buttons[:1]]
    for name in form.names:
        value = next(value for key, value in usual if key == name)
        hostile = {**HOSTILE, **dict(_within(value))}
        for words, values in hostile.items():
            others = [(key, old) for key, old in usual if key != name]
            yield f"{name}: {words}", [*others, *((name, new) for new in values)]


def _within(value: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Yield a value that is a JSON object or list with one of its own values replaced at a time."""
    try:
        read = json.loads(value)
    except ValueError:
        return
    if not isinstance(read, (dict, list)):
        return
    marked = "e3b0c44298fc1c14"
    for path in _paths(read):
        copy = json.loads(value)
        inner = copy
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = marked
        text = json.dumps(copy)
        for words, new in WITHIN.items():
            yield f"{path}: {words}", [text.replace(f'"{marked}"', new).encode()]


def _paths(read: object) -> Iterator[tuple[int | str, ...]]:
    inner: list[tuple[int | str, object]] = []
    if isinstance(read, dict):
        inner = list(read.items())
    elif isinstance(read, list):
        inner = list(enumerate(read))
    for key, value in inner:
        yield (key,)
        for path in _paths(value):
            yield (key, *path)


def body_of(form: PostForm, pairs: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """Return the content type and the body that a browser would send; a file has its field's name.

    Django's test client would refuse to encode what is no text.
    """
    if not form.of_files:
        body = b"&".join(
            quote_plus(name).encode() + b"=" + quote_plus(value).encode() for name, value in pairs
        )
        return "application/x-www-form-urlencoded", body
    parts = []
    for name, value in pairs:
        head = f'Content-Disposition: form-data; name="{name}"'
        if name in form.files:
            head += f'; filename="{name}.json"\r\nContent-Type: application/json'
        parts.append(b"--%s\r\n%s\r\n\r\n%s\r\n" % (BOUNDARY, head.encode(), value))
    body = b"".join(parts) + b"--%s--\r\n" % BOUNDARY
    return f"multipart/form-data; boundary={BOUNDARY.decode()}", body
