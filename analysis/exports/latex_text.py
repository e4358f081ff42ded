"""Any text as LaTeX that means that text: nothing in it is a command, and all of it is ASCII.

Text comes from models and from people. What the standard classes cannot set without further
packages stands as its code point, so that the file compiles whatever somebody wrote.
"""

import re
import unicodedata
from urllib.parse import quote

# What LaTeX takes for commands, or reads as an option after a row.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
SYMBOLS = {
    "−": "$-$",
    "–": "--",
    "—": "---",
    "‐": "-",
    "‑": "-",
    "±": r"$\pm$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "·": r"$\cdot$",
    "⋅": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "∆": r"$\Delta$",
    "∑": r"$\sum$",
    "∈": r"$\in$",
    "∪": r"$\cup$",
    "∩": r"$\cap$",
    "∅": r"$\emptyset$",
    "¬": r"$\neg$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "⇒": r"$\Rightarrow$",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "„": "``",
    "‘": "`",
    "’": "'",
    "•": r"\textbullet{}",
    "°": r"\textdegree{}",
    "§": r"\S{}",
    "¶": r"\P{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "©": r"\copyright{}",
    "£": r"\pounds{}",
    "½": r"$\frac{1}{2}$",
    "⅓": r"$\frac{1}{3}$",
    "⅔": r"$\frac{2}{3}$",
    "¼": r"$\frac{1}{4}$",
    "¾": r"$\frac{3}{4}$",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "ȷ": r"\j{}",
    "¡": "!`",
    "¿": "?`",
    "µ": r"$\mu$",
    "ς": r"$\varsigma$",
    "\u00a0": "~",
    "\u2007": "~",
    "\u2009": r"\,",
    "\u200a": r"\,",
    "\u202f": r"\,",
}
# Greek letters whose commands are their names; omicron and capitals like Latin ones are those.
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega"
)
CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
LIKE_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u0304": "=",
    "\u0307": ".",
    "\u0306": "u",
    "\u030c": "v",
    "\u030b": "H",
    "\u030a": "r",
    "\u0327": "c",
    "\u0323": "d",
    "\u0331": "b",
}
DOTLESS = {"i": r"\i", "j": r"\j"}
_UNIT = re.compile(r"(?<=\d)[ \u00a0]%")


def latex_text(text: str) -> str:
    """Return text as LaTeX: one line, ASCII, with every special character escaped."""
    words = " ".join(_UNIT.sub("\u202f%", str(text)).split(" "))
    words = re.sub(r"[ \t\r\n\f\v\x1c-\x1f\x85\u2028\u2029]+", " ", words).strip(" ")
    line = ""
    for one in unicodedata.normalize("NFC", words):
        piece = _character(one)
        if line and piece and _joins(line[-1], piece[0]):
            line += "{}"
        line += piece
    return line


def _joins(before: str, after: str) -> bool:
    """Return whether LaTeX would make one sign of two neighbours: a dash, a quotation mark, ¡ or
    ¿.
    """
    return (before == after and before in "-,'`") or (before in "!?" and after == "`")


def latex_url(url: str) -> str:
    """Return an address for the first argument of ``\\href``, also within tables."""
    plain = quote(url, safe="/:?=&#%+,;@!()-._")
    return re.sub(r"([%#&_])", r"\\\1", plain)


def latex_comment(text: str) -> str:
    """Return text as a comment: one line that LaTeX does not read."""
    plain = " ".join(str(text).split())
    return "% " + "".join(one if " " <= one <= "~" else _code(one) for one in plain)


def _greek() -> dict[str, str]:
    letters = {}
    for name in GREEK.split():
        letter = unicodedata.lookup(f"GREEK SMALL LETTER {_unicode_name(name)}")
        letters[letter] = rf"$\{name}$"
    for name in CAPITALS.split():
        letter = unicodedata.lookup(f"GREEK CAPITAL LETTER {_unicode_name(name)}")
        letters[letter] = rf"$\{name}$"
    return letters | LIKE_LATIN


def _unicode_name(name: str) -> str:
    return {"lambda": "LAMDA"}.get(name.lower(), name.upper())


SCRIPTS = {"<super>": "textsuperscript", "<sub>": "textsubscript"}
KNOWN = {**SPECIAL, **SYMBOLS, **_greek()}


def _character(one: str) -> str:
    if one in KNOWN:
        return KNOWN[one]
    if " " <= one <= "~":
        return one
    if unicodedata.category(one) in ("Cc", "Cf"):
        return ""  # it has no shape: joiners, directions, controls
    base, *marks = list(unicodedata.normalize("NFD", one))
    if len(marks) == 1 and marks[0] in ACCENTS and base.isascii() and base.isalpha():
        return rf"\{ACCENTS[marks[0]]}{{{DOTLESS.get(base, base)}}}"
    kind, _, code = unicodedata.decomposition(one).partition(" ")
    if kind in SCRIPTS and len(code) == 4:
        return rf"\{SCRIPTS[kind]}{{{_character(chr(int(code, 16)))}}}"
    return _code(one, "{[}", r"{]}\allowbreak{}")


def _code(one: str, before: str = "[", after: str = "]") -> str:
    return f"{before}U+{ord(one):04X}{after}"
