"""Messages are drawn as plain Markdown: escaped first, and nothing but bold, lists and code."""

import time

import pytest

from benchmarks.markdown import draw_markdown, has_markup


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("plain words", "<p>plain words</p>"),
        ("two\nlines", "<p>two\nlines</p>"),
        ("a **bold** word", "<p>a <strong>bold</strong> word</p>"),
        ("not ** bold ** here", "<p>not ** bold ** here</p>"),
        ("use `a < b`", "<p>use <code>a &lt; b</code></p>"),
        ("`**code**`", "<p><code>**code**</code></p>"),
        ("- one\n- two", "<ul><li>one</li><li>two</li></ul>"),
        ("3. three\n5) five", '<ol><li value="3">three</li><li value="5">five</li></ol>'),
        ("so:\n* a\nend", "<p>so:</p><ul><li>a</li></ul><p>end</p>"),
        ("```py\nx = '<b>'\n```", '<pre tabindex="0"><code>x = &#x27;&lt;b&gt;&#x27;</code></pre>'),
        ("```\nno end", '<pre tabindex="0"><code>no end</code></pre>'),
        ("# no heading", "<p># no heading</p>"),
        ("[a link](http://x.y/)", "<p>[a link](http://x.y/)</p>"),
        ("<script>1</script>", "<p>&lt;script&gt;1&lt;/script&gt;</p>"),
        ("**<img src=x>**", "<p><strong>&lt;img src=x&gt;</strong></p>"),
        ("", ""),
    ],
)
def test_what_is_drawn(text: str, drawn: str) -> None:
    assert draw_markdown(text) == drawn


def test_what_is_shown_as_it_was_written_is_known() -> None:
    assert not has_markup("Two lines & <b>\nof words")
    assert all(map(has_markup, ("- a", "2. b", "**c**", "`d`", "```\ne")))


@pytest.mark.parametrize(
    "unit", ["*", "**", "`", "**a", "`a", "- ", "```\n", "**a ", "1. a\n", "&<"]
)
def test_time_grows_with_the_length_of_the_text(unit: str) -> None:
    seconds = []
    for count in (50_000, 1_000_000):
        began = time.process_time()
        draw_markdown(unit * (count // len(unit)))
        seconds.append(time.process_time() - began)
    assert seconds[1] < max(60 * seconds[0], 0.5)  # 20 times the text; the square would be 400
