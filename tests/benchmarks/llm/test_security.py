"""Each rule on endpoints, tried by itself; ``test_hostile.py`` tries them over HTTP."""

import base64
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.llm.security import (
    REDACTED,
    EndpointRefused,
    Redactor,
    Secret,
    check_key_variable,
    read_address,
    read_key,
)
from tests.benchmarks.llm.stage import KEY, VARIABLE


class TestAddresses:
    @pytest.mark.parametrize(
        ("url", "host", "port"),
        [
            ("https://models.example.org/v1", "models.example.org", 443),
            ("https://Models.Example.ORG", "models.example.org", 443),
            ("https://10.1.2.3:8443/openai/v1/", "10.1.2.3", 8443),
            ("http://localhost:11434/v1", "localhost", 11434),
            ("http://127.0.0.1/v1", "127.0.0.1", 80),
            ("http://[::1]:8000/v1", "::1", 8000),
        ],
    )
    def test_scheme_host_port_and_path(self, url, host, port):
        address = read_address(url)
        assert (address.host, address.port) == (host, port)

    @pytest.mark.parametrize(
        "url",
        [
            "http://models.example.org/v1",
            "http://10.0.0.5:8000/v1",
            "http://localhost.example.org/v1",
            "http://128.0.0.1/v1",
        ],
    )
    def test_plain_http_is_for_this_machine(self, url):
        with pytest.raises(EndpointRefused, match="this machine alone"):
            read_address(url)

    @pytest.mark.parametrize(
        "url", ["https://user:hunter2@host/v1", "https://user@host", "http://localhost@host/v1"]
    )
    def test_no_user_names_and_passwords(self, url):
        with pytest.raises(EndpointRefused, match="no user name") as refused:
            read_address(url)
        assert "hunter2" not in str(refused.value)

    @pytest.mark.parametrize("url", ["https://host/v1?key=hunter2", "https://host/v1#hunter2"])
    def test_no_query_strings(self, url):
        with pytest.raises(EndpointRefused, match="no query string") as refused:
            read_address(url)
        assert "hunter2" not in str(refused.value)

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "localhost/v1",
            "ftp://localhost/v1",
            "file:///etc/passwd",
            "//localhost/v1",
            "https:/host",
            "https://",
            "https:///v1",
            "https://host name/v1",
            "http://localhost\\.example.org/v1",
            "http://localhost\n/v1",
            "http://localhost /v1",
            "http://localhost%2eexample.org/v1",
            "https://ｅxample.org/v1",
            "https://host:port/v1",
            "https://host:123456/v1",
            "https://host:0/v1",
            "https://host:/v1",
            "https://-host/v1",
            "https://host/" + "v" * 300,
        ],
    )
    def test_anything_unusual_is_refused(self, url):
        with pytest.raises(EndpointRefused):
            read_address(url)

    @given(st.text())
    def test_no_text_breaks_it(self, text):
        for url in (text, f"http://{text}", f"https://{text}", f"https://host/{text}"):
            try:
                address = read_address(url)
            except EndpointRefused:
                continue
            assert address.scheme == "https" or address.loopback

    @pytest.mark.parametrize("url", ["http://2130706433/", "http://0x7f.1/", "http://127.1/"])
    def test_numbers_in_disguise_are_not_this_machine(self, url):
        with pytest.raises(EndpointRefused):
            read_address(url)


class TestKeys:
    @pytest.mark.parametrize("name", ["", "PLANJURY_KEY_A", "PLANJURY_KEY_LAB_2"])
    def test_variables_made_for_keys(self, name):
        check_key_variable(name)

    @pytest.mark.parametrize(
        "name",
        ["PATH", "SECRET_KEY", "DATABASE_URL", "PLANJURY_SECRET_KEY", "PLANJURY_KEY_",
         "planjury_key_a", "PLANJURY_KEY_a", "X_PLANJURY_KEY_A", "PLANJURY_KEY_A=B",
         "PLANJURY_KEY_A\n"],
    )  # fmt: skip
    def test_all_other_variables_stay_unread(self, name):
        with pytest.raises(EndpointRefused, match="must start with PLANJURY_KEY_"):
            read_key(name, {name: "a value that nobody must see"})

    def test_no_variable_no_key(self):
        assert read_key("", {"": "x" * 20}) is None

    def test_the_key(self):
        key = read_key(VARIABLE, {VARIABLE: f" {KEY}\n"})
        assert key is not None
        assert key.reveal() == KEY

    @pytest.mark.parametrize(
        ("value", "said"),
        [("", "not set"), ("  ", "not set"), ("short", "fewer than 8"),
         ("with\r\nX-Header: 1", "characters that no key has"), ("schlüssel-0815", "no key has")],
    )  # fmt: skip
    def test_an_unusable_key_is_refused_without_showing_it(self, value, said):
        with pytest.raises(EndpointRefused, match=said) as refused:
            read_key(VARIABLE, {VARIABLE: value})
        assert VARIABLE in str(refused.value)
        assert not value.strip() or value not in str(refused.value)

    def test_a_secret_does_not_show(self):
        secret = Secret(KEY)
        shown = f"{secret} {secret!r} {[secret]} {vars(type(secret))}"
        assert KEY not in shown
        with pytest.raises(TypeError):
            pickle.dumps(secret)


class TestRedaction:
    redactor = Redactor(Secret(KEY))

    def clean(self, text: str) -> str:
        return self.redactor.clean(text)

    def test_the_key_is_taken_out_and_all_else_stays(self):
        assert self.clean(f"before {KEY} after") == f"before {REDACTED} after"
        assert self.clean(f"{KEY}{KEY}") == REDACTED * 2
        assert self.clean("1. Take a towel.") == "1. Take a towel."

    @pytest.mark.parametrize(
        "form",
        [
            KEY[::-1],
            KEY.encode().hex(),
            base64.b64encode(KEY.encode()).decode(),
            base64.b64encode(f"Bearer {KEY}".encode()).decode(),
            base64.b64encode(f"x{KEY}y".encode()).decode(),
            KEY[4:20],
            KEY[-14:],
        ],
    )
    def test_other_forms_and_large_pieces_are_taken_out(self, form):
        left = self.clean(f"it is {form}, they say")
        assert REDACTED in left
        for start in range(len(form) - 11):
            assert form[start : start + 12] not in left

    @given(st.integers(0, len(KEY) - 12), st.integers(12, len(KEY)), st.text(), st.text())
    def test_no_piece_of_twelve_characters_is_left(self, start, length, before, after):
        left = self.clean(before + KEY[start : start + length] + after)
        pieces = (KEY[i : i + 12] for i in range(len(KEY) - 11))
        assert not any(piece in left for piece in pieces)

    @given(st.text(alphabet="ab[redact]", min_size=8, max_size=30), st.text("[redact]ab"))
    def test_awkward_keys_end_as_well(self, key, text):
        assert key not in Redactor(Secret(key)).clean(f"{text}{key}{text}").replace(REDACTED, "")

    def test_without_a_key_nothing_is_changed(self):
        assert Redactor(None).clean(f"anything, even {KEY}") == f"anything, even {KEY}"

    def test_it_does_not_show_what_it_hides(self):
        assert KEY not in repr(self.redactor)

    @pytest.mark.parametrize(
        ("words", "quoted"),
        [
            ("Unknown  model\n'x'.", "Unknown model 'x'."),
            (f"Authorization: Bearer {KEY}", REDACTED),
            ("Bad key sk-abc123 given", f"Bad key {REDACTED} given"),
            ("Incorrect API key provided: pj-Zm9xI***********efgh.",
             f"Incorrect API key provided: {REDACTED}"),
            ("see https://u:p@host/a?token=1&b=2 now", "see https://host/a now"),
            ("a\x1b[31mb\x00", "a[31mb"),
            ("x" * 500, "x" * 199 + "…"),
        ],
    )  # fmt: skip
    def test_words_of_a_server_are_quoted_tamely(self, words, quoted):
        assert self.redactor.quote(words) == quoted
