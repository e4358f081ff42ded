"""People and what they open."""

from tests.visitors import admin, played, reader, researcher, stranger  # noqa: F401
