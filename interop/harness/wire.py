"""Frames as bytes: enough of Kafka's protocol to say something wrong on purpose."""

import json
import pathlib
import select
import socket
import struct

from .steps import Failed

API_VERSIONS = 18
METADATA = 3
CREATE_TOPICS = 19
FRAMES = pathlib.Path(__file__).resolve().parent.parent / "frames.jsonl"


def recorded(listener):
    """One whole request of each kind, as stock Kafka sent it to such a listener."""
    entries = [json.loads(line) for line in FRAMES.read_text().splitlines()]
    return [(entry["name"], bytes.fromhex(entry["frame"])) for entry in entries if entry["listener"] == listener]


def header(api, version, correlation=1, client=b"interop"):
    """Request header version 1: what every server can read."""
    return struct.pack(">hhih", api, version, correlation, len(client)) + client


def framed(payload):
    """The payload with its length before it."""
    return struct.pack(">i", len(payload)) + payload


def api_versions(correlation=1):
    """An ApiVersions request of version 0, framed."""
    return framed(header(API_VERSIONS, 0, correlation))


class Connection:
    """A raw connection to a server; every wait has a bound."""

    def __init__(self, address, seconds=5):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """Sends bytes; False when the server has closed already."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def receive(self):
        """The next frame without its length, or None when the server closed; fails when it says nothing."""
        size = self._exactly(4)
        return None if size is None else self._exactly(struct.unpack(">i", size)[0])

    def ending(self, seconds):
        """What comes within so many seconds: `answered`, `closed` or `silent`."""
        readable, _, _ = select.select([self.socket], [], [], seconds)
        if not readable:
            return "silent"
        try:
            return "answered" if self.socket.recv(4) else "closed"
        except OSError:
            return "closed"

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(min(count - len(data), 1 << 16))
            except TimeoutError:
                raise Failed(f"neither an answer nor a close; {len(data)} of {count} bytes came") from None
            except OSError:
                return None
            if not more:
                return None
            data += more
        return data
