"""Files to send."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.benchmarks.formats.samples import CHAT


def chat_file(name: str = "talks.jsonl", *, lines: int = 2, words: str = "") -> SimpleUploadedFile:
    """Chat messages as JSON lines; ``words`` make it another file."""
    rows = [
        {"task_id": f"t{n}", "model": "zebra-7b", "messages": CHAT, "note": words}
        for n in range(lines)
    ]
    return SimpleUploadedFile(name, "\n".join(map(json.dumps, rows)).encode())
