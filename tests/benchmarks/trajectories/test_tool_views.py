"""What tools did: changed files, commands, output of terminals."""

from typing import Any

import pytest

from benchmarks.templatetags.external import change_lines, patch_lines, screen
from benchmarks.trajectories.tool_views import (
    MOST_DRAWN,
    command_of,
    exit_code,
    file_changes,
    is_patch,
    is_terminal,
)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "/a.py", "old_string": "x = 1\ny", "new_string": "x = 2\ny"}),
        ("replace", {"file_path": "/a.py", "old_string": "x = 1\ny", "new_string": "x = 2\ny"}),
        ("edit", {"path": "/a.py", "oldText": "x = 1\ny", "newText": "x = 2\ny"}),
        (
            "str_replace_editor",
            {
                "command": "str_replace",
                "path": "/a.py",
                "old_str": "x = 1\ny",
                "new_str": "x = 2\ny",
            },
        ),
        (
            "MultiEdit",
            {"file_path": "/a.py", "edits": [{"old_string": "x = 1\ny", "new_string": "x = 2\ny"}]},
        ),
    ],
)
def test_an_edit_is_a_difference(name: str, arguments: Any) -> None:
    (change,) = file_changes(name, arguments)
    assert change.path == "/a.py"
    assert (change.added, change.removed) == (1, 1)
    assert [line for line in change.lines if line[0] != "same"] == [
        ("removed", "x = 1"),
        ("added", "x = 2"),
    ]


def test_new_files_patches_and_other_calls() -> None:
    (written,) = file_changes("write_file", {"file_path": "/b", "content": "one\ntwo"})
    assert written.lines == (("added", "one"), ("added", "two"))
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-old\n+new\n*** End Patch"
    for arguments in ({"input": patch}, patch):
        (change,) = file_changes("apply_patch", arguments)
        assert (change.added, change.removed) == (1, 1)
    (long,) = file_changes("Write", {"path": "/c", "content": "line\n" * (MOST_DRAWN + 9)})
    assert (len(long.lines), long.more) == (MOST_DRAWN, 9)
    for name, arguments in (
        ("Read", {"path": "/c", "content": "no change"}),
        ("Bash", {"command": "ls"}),
        ("odd", 7),
        ("odd", {"edits": ["text", 3]}),
        ("odd", ["list"]),
    ):
        assert file_changes(name, arguments) == []


def test_commands_and_how_they_ended() -> None:
    assert command_of("Bash", {"command": "ls -l"}) == "ls -l"
    assert command_of("shell", {"command": ["bash", "-lc", "ls | wc"]}) == "ls | wc"
    assert command_of("functions.exec_command", {"cmd": "pwd"}) == "pwd"
    assert command_of("Read", {"command": "ls"}) == ""
    assert command_of("Bash", "ls") == ""
    assert is_terminal("mcp__box__run_shell_command")
    assert not is_terminal("search")
    for text, code in (
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno", 1),
        ("<returncode>0</returncode>\n<output>\n", 0),
        ("much\n" * 500 + "[The command completed with exit code 127.]", 127),
        ("nothing stated", None),
        ("no such file\n\nCommand exited with code 2", 2),
        ("x" * 300 + "exit code 3" + "x" * 300, None),
    ):
        assert exit_code(text) == code


def test_escape_sequences_are_hidden_and_all_else_escaped() -> None:
    text = "\x1b[31m<b>red</b>\x1b[0m & \x1b]0;title\x07plain"
    shown = screen(text)
    assert "&lt;b&gt;red&lt;/b&gt;" in shown
    assert shown.count("<span hidden>") == 3
    assert shown.replace("<span hidden>", "").replace("</span>", "") == (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )
    assert screen("<i>") == "&lt;i&gt;"


def test_differences_are_marked_and_escaped() -> None:
    (change,) = file_changes("Edit", {"old_string": "<a>", "new_string": "<b>", "path": "p"})
    lines = change_lines(change)
    assert "<del>- &lt;a&gt;</del>\n<ins>+ &lt;b&gt;</ins>" in lines
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<old>\n+new\n same"
    assert is_patch(diff)
    assert not is_patch("- a list\n- of points")
    assert patch_lines(diff).endswith("<del>-&lt;old&gt;</del>\n<ins>+new</ins>\n same")
