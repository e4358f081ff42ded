"""What holds for every test that drives a browser."""

from playwright.sync_api import expect

# All parts of the tests run at once, so that any page may have to wait for the others. A deadline
# only says after which time a page hangs; no test is about it.
expect.set_options(timeout=15_000)
