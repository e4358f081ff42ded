"""kombu's side of the embedded broker."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kombu import Connection, Exchange, Queue

from config import celery  # noqa: F401  (registers the scheme)

QUEUE = "work"


@pytest.fixture
def connect(tmp_path: Path) -> Iterator:
    """Opens connections to one folder."""
    opened: list[Connection] = []

    def make() -> Connection:
        options = {"folder": str(tmp_path), "polling_interval": 0.01, "recovery_interval": 0.0}
        opened.append(Connection("fsq://", transport_options=options))
        return opened[-1]

    yield make
    for connection in opened:
        connection.close()


def waiting(folder: Path) -> int:
    return len(list((folder / "ready").iterdir()))


def held(folder: Path) -> int:
    return len(list((folder / "held").rglob("*.msg")))


def test_a_message_arrives_and_is_deleted_when_acknowledged(connect, tmp_path: Path) -> None:
    queue = connect().SimpleQueue(QUEUE)
    queue.put({"job": 7})
    assert queue.qsize() == 1
    message = connect().SimpleQueue(QUEUE).get(timeout=30)
    assert message.payload == {"job": 7}
    assert (waiting(tmp_path), held(tmp_path)) == (0, 1)
    message.ack()
    assert (waiting(tmp_path), held(tmp_path)) == (0, 0)


def test_a_rejected_message_is_gone(connect, tmp_path: Path) -> None:
    queue = connect().SimpleQueue(QUEUE)
    queue.put({})
    queue.get(timeout=30).reject()
    assert (waiting(tmp_path), held(tmp_path)) == (0, 0)


def test_a_requeued_message_comes_again_once(connect, tmp_path: Path) -> None:
    queue = connect().SimpleQueue(QUEUE)
    queue.put({"job": 7})
    queue.get(timeout=30).requeue()
    assert (waiting(tmp_path), held(tmp_path)) == (1, 0)
    again = queue.get(timeout=30)
    assert again.payload == {"job": 7}
    again.ack()
    with pytest.raises(queue.Empty):
        queue.get(timeout=0.05)


def test_closing_gives_back_what_was_not_acknowledged(connect, tmp_path: Path) -> None:
    connection = connect()
    queue = connection.SimpleQueue(QUEUE)
    for number in range(3):
        queue.put(number)
    queue.get(timeout=30).ack()
    queue.get(timeout=30)
    connection.close()
    assert (waiting(tmp_path), held(tmp_path)) == (2, 0)


def test_an_acknowledgement_after_closing_does_no_harm(connect, tmp_path: Path) -> None:
    connection = connect()
    queue = connection.SimpleQueue(QUEUE)
    queue.put({})
    message = queue.get(timeout=30)
    channel = message.channel
    connection.close()
    channel.qos.ack(message.delivery_tag)
    assert waiting(tmp_path) == 1


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[]", b"{}", b'{"properties": null}'])
def test_a_broken_file_is_set_aside_and_the_next_message_comes(
    connect, tmp_path: Path, rubbish: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    queue = connect().SimpleQueue(QUEUE)
    name = f"00000000000000000000-0~{QUEUE}.msg"
    (tmp_path / "ready" / name).write_bytes(rubbish)
    queue.put({"job": 7})
    message = queue.get(timeout=30)
    assert message.payload == {"job": 7}
    message.ack()
    assert [path.name for path in (tmp_path / "broken").iterdir()] == [name]
    assert "could not be read" in caplog.text


def test_what_is_stored_is_plain_json(connect, tmp_path: Path) -> None:
    connect().SimpleQueue(QUEUE).put({"job": 7})
    (file,) = (tmp_path / "ready").iterdir()
    assert json.loads(file.read_text())["properties"]["delivery_info"]["routing_key"] == QUEUE


def test_whoever_waits_is_woken_by_a_message(tmp_path: Path) -> None:
    """The wait ends in error before they would look by themselves."""
    options = {"folder": str(tmp_path), "polling_interval": 60.0}
    with (
        Connection("fsq://", transport_options=options) as reader,
        Connection("fsq://", transport_options=options) as writer,
    ):
        heard: list[object] = []
        consumer = reader.Consumer(
            [Queue(QUEUE, Exchange(QUEUE), QUEUE)], callbacks=[lambda body, m: heard.append(body)]
        )
        with consumer:
            threading.Timer(0.2, lambda: writer.SimpleQueue(QUEUE).put({"job": 7})).start()
            reader.drain_events(timeout=30)
        assert heard == [{"job": 7}]


def test_whoever_waits_in_vain_is_told(connect) -> None:
    connection = connect()
    with connection.Consumer([Queue(QUEUE, Exchange(QUEUE), QUEUE)]), pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.05)
