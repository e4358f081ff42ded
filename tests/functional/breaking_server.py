"""The web server of test_cut_off.py: the product's own, that can be told to die before it replies.

``python -m tests.functional.breaking_server`` brings the environment's database up to date, makes
a study with two items for Ann where there is none, writes to ``desk.json`` how to get to her desk,
and serves on ``PORT``. Whatever is posted is noted in ``posted.jsonl`` before anything is done.
Where a file ``break`` lies in the data folder, the server takes it away and gets ``SIGKILL`` after
it has done what the next POST asks and before it says so.
"""

import json
import os
import signal
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

DESK, POSTED, BREAK = "desk.json", "posted.jsonl", "break"
App = Callable[[dict[str, Any], Any], Any]


def breaking(app: App, folder: Path) -> App:
    """The app, but for replies that are never given."""
    mark = folder / BREAK

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["REQUEST_METHOD"] != "POST":
            return app(environ, start_response)
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = BytesIO(body)
        with (folder / POSTED).open("a") as file:
            print(json.dumps([environ["PATH_INFO"], body.decode()]), file=file)
        # Gunicorn sends nothing before it has all of this.
        reply = app(environ, start_response)
        if mark.exists():
            mark.unlink()
            os.killpg(os.getpgrp(), signal.SIGKILL)
        return reply

    return answer


def make_desk(path: Path) -> None:
    """A study, and a session of somebody who is to answer it."""
    from django.test import Client

    from tests.annotation.rows import make_person, make_study

    ann = make_person("ann")
    study = make_study(annotators=[ann])
    client = Client()
    client.force_login(ann)
    session = client.cookies["sessionid"].value
    path.write_text(json.dumps({"study": study.pk, "session": session}))


def main() -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application

    from config import processes
    from config.upgrades import migrate_if_needed
    from tests.functional.killed_annotating import serve

    migrate_if_needed()
    if not (settings.DATA_DIR / DESK).exists():
        make_desk(settings.DATA_DIR / DESK)
    processes.get_wsgi_application = lambda: breaking(get_wsgi_application(), settings.DATA_DIR)
    serve(settings.SERVE_PORT)


if __name__ == "__main__":
    main()
