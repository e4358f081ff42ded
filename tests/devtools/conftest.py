"""The fake endpoints of the tests of benchmarks."""

from tests.benchmarks.conftest import serve, server  # noqa: F401
