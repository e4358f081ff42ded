"""The processes that the server command starts: the web server and the Celery worker."""

import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery.apps.worker import Worker
from django.conf import settings
from django.core.signals import request_finished
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import reverse
from gunicorn.app.base import BaseApplication
from gunicorn.workers.gthread import ThreadWorker

from analysis.pages.catalogue import load_reports
from benchmarks.jobs.threads import SWITCH_SECONDS, wait_for_work
from benchmarks.jobs.workers import end_heartbeat
from config.celery import app
from config.operations.metrics import begin_counting

# Seconds after its start in which a web server has nothing to do but show its first pages.
LOAD_AFTER = 5.0


def load_reports_soon(worker: object) -> None:
    """Have what reports are made with loaded in a while, beside the pages that are asked for."""
    timer = threading.Timer(LOAD_AFTER, load_reports)
    timer.daemon = True
    timer.start()


class FinishingWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A gunicorn worker that leaves no connection unanswered when it is told to end.

    Gunicorn's own stops accepting but keeps its port open until its last request is finished.
    Whoever connects meanwhile is never answered, and a proxy cannot repeat a form elsewhere.
    """

    sockets: list[socket.socket]

    def set_accept_enabled(self, enabled: bool) -> None:
        """Stop accepting at the end with those who wait, and close the port at once."""
        super().set_accept_enabled(enabled)
        if self.alive or enabled:
            return
        for listener in self.sockets:
            accepted = -1
            while accepted < self.nr_conns:
                accepted = self.nr_conns
                self.accept(listener)
            listener.close()
        self.sockets = []


class WebServer(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn on a socket that is open already, with the app that is loaded already."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        super().__init__()

    def load_config(self) -> None:
        """Set what differs from gunicorn's defaults."""
        options = {
            "bind": f"fd://{self.listener.fileno()}",
            "worker_class": FinishingWorker,
            "workers": settings.WEB_PROCESSES,
            "threads": settings.WEB_THREADS + settings.STREAM_THREADS,
            "graceful_timeout": settings.WEB_DRAIN_SECONDS,
            "preload_app": True,
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_worker_init": load_reports_soon,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the WSGI app, with its addresses read before the processes fork."""
        reverse("annotation:home")
        return answer_on_threads(get_wsgi_application(), settings.WEB_THREADS)


WSGIApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def answer_on_threads(app: WSGIApp, count: int) -> WSGIApp:
    """Have requests answered by so many threads of their own, each with its database connection.

    The web server has more threads, since each stream takes one as long as it lasts. Were requests
    answered by those, all of them would come to hold a connection; so they only send what was
    answered, and one that reads rows for it, as an export does, closes its connection at the end.
    """
    pool = ThreadPoolExecutor(count, thread_name_prefix="answer")

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        return pool.submit(app, environ, start_response).result()

    request_finished.connect(_close_connections, dispatch_uid="connections of sending threads")
    return answer


def _close_connections(**about: object) -> None:
    connections.close_all()


class BackgroundWorker(Worker):
    """A Celery worker that does not start its program anew on SIGHUP: that would be the server."""

    def install_platform_tweaks(self, worker: Any) -> None:
        """Install Celery's signal handlers, but for one."""
        super().install_platform_tweaks(worker)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def run_web(listener: socket.socket) -> None:
    """Serve pages until told to stop."""
    begin_counting()
    sys.setswitchinterval(SWITCH_SECONDS)
    WebServer(listener).run()


def run_worker(listener: socket.socket | None = None) -> None:
    """Do background work until told to stop."""
    if listener is not None:
        listener.close()  # it is the web server's
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # done before the fork
    # Containers run everything as root; only JSON is accepted, which is what the warning is about.
    warnings.filterwarnings("ignore", message=".*superuser privileges")
    worker = BackgroundWorker(
        app=app,
        hostname="planjury@%h",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    wait_for_work()
    end_heartbeat()
    raise SystemExit(worker.exitcode)
