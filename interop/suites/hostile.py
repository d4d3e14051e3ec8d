"""What no honest client sends. The server may refuse or close; it must go on serving the others."""

import random
import struct
import time

from harness import wire
from harness.steps import Failed, check, step
from harness.wire import Connection, api_versions, framed, header

SEED = 20261130
UNSUPPORTED_VERSION = 35
NO_TAGS = b"\x00"  # what a flexible header ends with
BAD_LENGTHS = {"-1": -1, "-2147483648": -(1 << 31), "2147483647": (1 << 31) - 1, "0": 0}
# What a JVM broker or controller takes before its heap is gone; ours takes what is asked here.
LOAD = {
    "quorate": {"announce": 60, "damaged": 1500, "rss_mib": 200, "spared": ()},
    "jvm": {"announce": 4, "damaged": 400, "rss_mib": 520, "spared": ("CreateTopics", "CreatePartitions", "Envelope")},
}


class HostileSuite:
    """Damaged, unknown and endless input does no harm."""

    NAME = "hostile"

    def __init__(self, lab):
        self.lab = lab
        self.load = LOAD[lab.kind]
        self.cluster = None
        self.rss_before = {}
        self.random = random.Random(SEED)

    def stop(self):
        """Nothing beyond the processes that the lab stops."""

    def listeners(self):
        """One address for each kind of listener."""
        return {"controller": self.cluster.controllers[0], "broker": self.cluster.bootstrap.split(",")[0]}

    def everywhere(self, do):
        """Does it on each kind of listener and shows that this one goes on answering."""
        came = {}
        for name, address in self.listeners().items():
            came[name] = do(address)
            self.served(address)
        return "; ".join(f"{name} {what}" for name, what in came.items())

    def served(self, address, seconds=5):
        """An honest request on a new connection is answered in time."""
        began = time.monotonic()
        with Connection(address, seconds) as honest:
            honest.send(api_versions(77))
            answer = honest.receive()
        took = time.monotonic() - began
        check(answer is not None and answer[:4] == struct.pack(">i", 77), f"no answer to ApiVersions from {address}")
        check(took < seconds, f"ApiVersions took {took:.1f} s")
        return took

    def servers(self):
        return self.cluster.servers() + [broker.server for broker in getattr(self.cluster, "brokers", [])]

    # -- start ---------------------------------------------------------------------------------

    @step("a cluster whose listeners answer ApiVersions", setup=True)
    def cluster_start(self):
        self.cluster = self.lab.cluster(brokers=1)
        came = self.everywhere(lambda address: f"at {address}")
        self.rss_before = {server.name: server.rss_mib() for server in self.servers()}
        return f"{came}; RSS {self.rss_before} MiB"

    # -- versions and keys -----------------------------------------------------------------------

    @step("ApiVersions of version 99 is answered in version 0 with UNSUPPORTED_VERSION", needs=["cluster_start"])
    def unknown_api_versions(self):
        def ask(address):
            with Connection(address) as client:
                client.send(framed(header(wire.API_VERSIONS, 99, 5) + NO_TAGS))
                answer = client.receive()
                check(answer is not None, "closed")
                correlation, error, count = struct.unpack(">ihi", answer[:10])
                check((correlation, error) == (5, UNSUPPORTED_VERSION), answer[:16].hex())
                keys = [struct.unpack_from(">hhh", answer, 10 + 6 * n) for n in range(count)]
                check(len(answer) == 10 + 6 * count, f"{len(answer)} bytes for {count} keys")
                check(any(key == wire.API_VERSIONS for key, _, _ in keys), keys)
                return f"error {error}, {count} keys"

        return self.everywhere(ask)

    @step("unknown keys, keys of other listeners and versions of the far future: the connection closes", needs=["cluster_start"])
    def unknown_keys(self):
        wrong = [(999, 0), (-1, 0), (32767, 32767), (wire.METADATA, 99), (wire.CREATE_TOPICS, -5)]

        def ask(address):
            endings = []
            for api, version in wrong:
                with Connection(address) as client:
                    client.send(framed(header(api, version) + bytes(8)))
                    endings.append(client.ending(5))
            check("silent" not in endings, dict(zip(wrong, endings)))
            return ", ".join(endings)

        return self.everywhere(ask)

    @step("a broker's Produce at a controller's listener: the connection closes", needs=["cluster_start"])
    def wrong_listener(self):
        address = self.listeners()["controller"]
        produce = next(frame for name, frame in wire.recorded("broker") if name == "Produce")
        with Connection(address) as client:
            client.send(framed(produce))
            came = client.ending(5)
        check(came == "closed", came)
        self.served(address)
        return came

    # -- lengths ---------------------------------------------------------------------------------

    @step("impossible lengths close the connection before anything is read", needs=["cluster_start"])
    def impossible_lengths(self):
        def ask(address):
            endings = {}
            for name, length in BAD_LENGTHS.items():
                with Connection(address) as client:
                    client.send(struct.pack(">i", length) + b"x" * 16)
                    endings[name] = client.ending(5)
            check(set(endings.values()) == {"closed"}, endings)
            return f"closed for {', '.join(endings)}"

        return self.everywhere(ask)

    @step("counts of two thousand million inside a small frame are refused", needs=["cluster_start"])
    def impossible_counts(self):
        huge = struct.pack(">i", (1 << 31) - 1)
        compact = b"\xff\xff\xff\xff\x0f"
        bodies = {
            "Metadata 0, array": header(wire.METADATA, 0) + huge,
            "Metadata 12, compact array": header(wire.METADATA, 12) + b"\x00" + compact,
            "Metadata 12, name": header(wire.METADATA, 12) + b"\x00\x02" + bytes(16) + compact,
            "Metadata 12, tags": header(wire.METADATA, 12) + compact,
            "ApiVersions 4, tags": header(wire.API_VERSIONS, 4) + b"\x00\x02a\x02a" + compact,
            "CreateTopics 7, topics": header(wire.CREATE_TOPICS, 7) + b"\x00" + compact,
            "varint without end": header(wire.CREATE_TOPICS, 7) + b"\x00" + b"\xff" * 64,
        }

        def ask(address):
            endings = {}
            for name, body in bodies.items():
                with Connection(address) as client:
                    client.send(framed(body))
                    endings[name] = client.ending(5)
            check("silent" not in endings.values(), endings)
            return f"{sum(e == 'closed' for e in endings.values())} closed, {sum(e == 'answered' for e in endings.values())} answered"

        return self.everywhere(ask)

    @step("100,000 empty names in one frame are worked off without harm", needs=["cluster_start"])
    def many_small_elements(self):
        names = 100_000
        count = bytes([(names + 1) & 0x7F | 0x80, (names + 1) >> 7 & 0x7F | 0x80, (names + 1) >> 14])
        body = header(wire.METADATA, 9) + b"\x00" + count + b"\x01\x00" * names + b"\x00\x00\x00\x00"

        def ask(address):
            with Connection(address) as client:
                client.send(framed(body))
                return client.ending(20)

        return self.everywhere(ask)

    # -- slow and silent -------------------------------------------------------------------------

    @step("20 frames of which half was sent: others are served meanwhile", needs=["cluster_start"])
    def half_sent_frames(self):
        def ask(address):
            whole = framed(self.random.choice(wire.recorded("controller"))[1])
            open_ones = [Connection(address) for _ in range(20)]
            for client in open_ones:
                client.send(whole[: len(whole) // 2])
            took = max(self.served(address) for _ in range(5))
            for client in open_ones:
                client.close()
            return f"answers within {1000 * took:.0f} ms"

        return self.everywhere(ask)

    @step("a request that comes byte by byte is answered", needs=["cluster_start"])
    def byte_by_byte(self):
        def ask(address):
            with Connection(address) as client:
                for byte in api_versions(9):
                    client.send(bytes([byte]))
                    time.sleep(0.005)
                answer = client.receive()
                check(answer is not None and answer[:4] == struct.pack(">i", 9), "no answer")
                return "answered"

        return self.everywhere(ask)

    @step("500 requests in one write are answered in their order", needs=["cluster_start"])
    def pipelined(self):
        def ask(address):
            with Connection(address, 20) as client:
                client.send(b"".join(api_versions(n) for n in range(500)))
                for n in range(500):
                    answer = client.receive()
                    check(answer is not None, f"closed after {n} answers")
                    check(answer[:4] == struct.pack(">i", n), f"answer {n} has correlation id {answer[:4].hex()}")
            return "500 answers"

        return self.everywhere(ask)

    @step("100 connections that say nothing: stock clients are served meanwhile", needs=["cluster_start"])
    def silent_connections(self):
        open_ones = [Connection(address) for address in self.listeners().values() for _ in range(100)]
        try:
            took = max(self.served(address) for address in self.listeners().values())
            self.honest_clients("while-silent")
        finally:
            for client in open_ones:
                client.close()
        return f"ApiVersions within {1000 * took:.0f} ms, kcat and librdkafka served"

    @step("connections that announce 10 MB and send one byte: nobody waits for them", needs=["cluster_start"])
    def announced_and_not_sent(self):
        def ask(address):
            open_ones = [Connection(address) for _ in range(self.load["announce"])]
            for client in open_ones:
                client.send(struct.pack(">i", 10_000_000) + b"\x00")
            time.sleep(0.5)
            took = max(self.served(address) for _ in range(5))
            rss = {server.name: server.rss_mib() for server in self.servers()}
            for client in open_ones:
                client.close()
            check(max(rss.values()) <= self.load["rss_mib"], f"RSS {rss} MiB")
            return f"{len(open_ones)} of them, answers within {1000 * took:.0f} ms, RSS at most {max(rss.values())} MiB"

        return self.everywhere(ask)

    # -- damage ----------------------------------------------------------------------------------

    @step("recorded requests with bytes changed, cut or added: each is answered or closed, or waits", needs=["cluster_start"])
    def damaged_frames(self):
        def ask(kind, addresses):
            frames = [entry for entry in wire.recorded(kind) if entry[0] not in self.load["spared"]]
            counts = {"answered": 0, "closed": 0, "silent": 0}
            left = self.load["damaged"]
            while left > 0:
                batch = min(left, 50)
                left -= batch
                self.volley(frames, addresses, batch, counts)
            for address in addresses:
                self.served(address)
            return f"{kind}: " + ", ".join(f"{count} {what}" for what, count in counts.items())

        return "; ".join(
            [ask("controller", self.cluster.controllers), ask("broker", self.cluster.bootstrap.split(","))]
        )

    def volley(self, frames, addresses, count, counts):
        """So many damaged frames at once, each on a connection of its own; then what became of them."""
        open_ones = []
        for n in range(count):
            client = Connection(addresses[n % len(addresses)])
            client.send(self.damage(self.random.choice(frames)[1]))
            open_ones.append(client)
        end = time.monotonic() + 1.0
        for client in open_ones:
            counts[client.ending(max(0.0, end - time.monotonic()))] += 1
            client.close()

    def damage(self, frame):
        """The frame with something wrong, framed; mostly behind the header, so that it is decoded."""
        data = bytearray(frame)
        how = self.random.randrange(6)
        at = self.random.randrange(min(8, len(data) - 1), len(data))
        if how == 0:
            for _ in range(self.random.randrange(1, 4)):
                data[self.random.randrange(8, len(data))] ^= 1 << self.random.randrange(8)
        elif how == 1:
            data[at] = self.random.randrange(256)
        elif how == 2:
            del data[at:]
        elif how == 3:
            data[at:at] = self.random.randbytes(self.random.randrange(1, 64))
        elif how == 4:
            data[at : at + 4] = b"\x7f\xff\xff\xff"
        else:
            data[at : at + 5] = b"\xff\xff\xff\xff\x0f"
        return framed(bytes(data))

    @step("pure noise closes the connection or is answered with an error", needs=["cluster_start"])
    def noise(self):
        def ask(address):
            endings = []
            for _ in range(50):
                with Connection(address) as client:
                    client.send(framed(self.random.randbytes(self.random.randrange(1, 400))))
                    endings.append(client.ending(5))
            check("silent" not in endings, f"{endings.count('silent')} of 50 neither answered nor closed")
            return f"{endings.count('closed')} closed, {endings.count('answered')} answered"

        return self.everywhere(ask)

    # -- afterwards ------------------------------------------------------------------------------

    def honest_clients(self, topic):
        bootstrap = self.cluster.bootstrap
        out = self.lab.clients.kcat("-L", "-b", bootstrap, seconds=15)
        check(" 1 brokers:" in out, out)
        came = self.lab.clients.call("confluent_admin.py", bootstrap, "create", topic, 3, 1)
        check(came == {topic: None}, came)

    @step("after all this kcat lists and librdkafka creates", needs=["cluster_start"])
    def still_serves(self):
        began = time.monotonic()
        self.honest_clients("afterwards")
        return f"both served in {time.monotonic() - began:.1f} s"

    @step("the same processes run, none of them has panicked", needs=["cluster_start"])
    def nothing_broke(self):
        for server in self.servers():
            if not server.alive():
                raise Failed(f"{server.name} has ended")
            for word in ("panicked", "OutOfMemoryError", "stack overflow", "FATAL"):
                check(word not in server.text(), f"{word!r} in the log of {server.name}")
        return f"{len(self.servers())} processes, no panic in their logs"

    @step("memory stayed bounded", needs=["cluster_start"])
    def memory_bounded(self):
        rss = {server.name: server.rss_mib() for server in self.servers()}
        check(max(rss.values()) <= self.load["rss_mib"], f"RSS {rss} MiB, {self.rss_before} MiB before")
        return f"RSS {rss} MiB, {self.rss_before} MiB before, {self.load['rss_mib']} MiB allowed"
