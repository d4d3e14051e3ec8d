"""What stands between the clients and the disk: our controllers or the JVM's, our brokers or stock ones."""

import base64
import json
import os
import pathlib
import re

from . import procs
from .procs import Server, free_ports, wait_until
from .stock import write_properties
from .steps import Failed, Skipped

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "target" / "release" / "examples" / "cluster"
CONTROLLERS = 3


def random_uuid():
    """An id as Kafka writes them, never one that a tool would take for an option."""
    while True:
        text = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


class Quorum:
    """Three controllers: where they listen, their cluster id, their files, and how they die."""

    kind = ""

    def __init__(self, lab):
        self.lab = lab
        self.controllers = []
        self.cluster_id = ""
        self.bootstrap = ""
        self.data_dir = lab.directory("controllers")

    @property
    def bootstrap_controllers(self):
        return ",".join(self.controllers)

    @property
    def reachable_controllers(self):
        """The controllers that a tool should ask."""
        return self.bootstrap_controllers

    def metadata_logs(self):
        """The segments of the controllers' metadata log."""
        found = sorted(self.data_dir.glob("**/__cluster_metadata-0/*.log"))
        if not found:
            raise Failed(f"no __cluster_metadata-0/*.log below {self.data_dir}")
        return found

    def tool(self, *args, through=None, **how):
        """Runs kafka-metadata-quorum, through one controller or whichever answers; what it printed."""
        address = through or self.reachable_controllers
        return self.lab.kafka.tool("kafka-metadata-quorum", "--bootstrap-controller", address, *args, **how)

    def status(self):
        """What the quorum says of itself, as the tool prints it."""
        return dict(re.findall(r"^(\w+):\s+(.*)$", self.tool("describe", "--status"), re.MULTILINE))

    def servers(self):
        """The processes, whichever they are."""
        raise NotImplementedError

    def start(self):
        """Starts what is not running, on the same files and ports."""
        raise NotImplementedError

    def crash_active(self):
        """kill -9 of the active controller alone; its id."""
        raise NotImplementedError

    def crash(self):
        """kill -9 of all controllers."""
        for server in self.servers():
            server.kill()

    def stop(self):
        """The exit codes after SIGTERM."""
        return [server.terminate(30) for server in self.servers() if server.alive()]


class QuorateCluster(Quorum):
    """The example's process: controllers, and our own brokers or none."""

    kind = "quorate"

    def __init__(self, lab, brokers, controllers=CONTROLLERS):
        super().__init__(lab)
        if not lab.example.exists():
            raise Failed(f"no {lab.example}: cargo build --release --example cluster")
        words = ["--controllers", controllers, "--brokers", brokers, "--json"]
        words += ["--base-port", free_ports(controllers + 10), "--data-dir", self.data_dir]
        self.server = lab.server(Server("cluster", [lab.example, *words], lab.log("cluster")))

    def start(self):
        if self.server.alive():
            return self
        self.server.start()
        self.server.wait_for('"ready"', 30)
        ready = next(event for event in self.events() if event.get("event") == "ready")
        self.controllers = ready["controllers"]
        self.cluster_id = ready["cluster_id"]
        bootstrap = ready.get("bootstrap") or ""
        self.bootstrap = bootstrap if isinstance(bootstrap, str) else ",".join(bootstrap)
        return self

    def events(self):
        """The events of this start."""
        found = []
        for line in self.server.text().splitlines():
            if line.startswith("{"):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    pass  # the last line may still be half written
        return found

    def servers(self):
        return [self.server]

    def crash_active(self):
        raise Skipped("the example's controllers are one process; its tour crashes the active one")


class StockController:
    """A stock Kafka controller: its files, and its process."""

    CAMPAIGNS = "Transitioning to Prospective state"
    ACTIVE = "Becoming the active controller"

    def __init__(self, lab, node_id, address, bootstrap, home):
        self.lab = lab
        self.node_id = node_id
        self.address = address
        self.properties = write_properties(
            home / "server.properties",
            {
                "process.roles": "controller",
                "node.id": node_id,
                "controller.quorum.bootstrap.servers": bootstrap,
                "controller.listener.names": "CONTROLLER",
                "listeners": f"CONTROLLER://{address}",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "log.dirs": home / "data",
            },
        )
        log = lab.log(f"controller-{node_id}")
        self.server = lab.server(lab.kafka.server(f"controller {node_id}", self.properties, log))

    def format(self, cluster_id, *args):
        """Formats its log directory; what the tool said."""
        return self.lab.kafka.format(self.properties, cluster_id, *args)

    def start(self):
        """Starts it and waits until it serves."""
        self.server.start()
        return self.wait_until_started()

    def wait_until_started(self):
        """Waits until it serves."""
        self.server.wait_for("Kafka Server started", 60)
        return self


class JvmControllers(Quorum):
    """Three stock controllers with a dynamic quorum."""

    kind = "jvm"

    def __init__(self, lab):
        super().__init__(lab)
        base = free_ports(CONTROLLERS)
        self.controllers = [f"127.0.0.1:{base + n}" for n in range(CONTROLLERS)]
        self.cluster_id = random_uuid()
        voters = ",".join(
            f"{n}@{address}:{random_uuid()}" for n, address in enumerate(self.controllers, start=1)
        )
        self.nodes = {}
        for n, address in enumerate(self.controllers, start=1):
            home = self.data_dir / f"controller-{n}"
            node = StockController(lab, n, address, self.bootstrap_controllers, home)
            node.format(self.cluster_id, "--initial-controllers", voters)
            self.nodes[n] = node.server

    def start(self):
        started = [server.start() for server in self.nodes.values() if not server.alive()]
        for server in started:
            server.wait_for("Kafka Server started", 60)
        return self

    def servers(self):
        return list(self.nodes.values())

    def crash_active(self):
        active = int(self.status()["LeaderId"])
        self.nodes[active].kill()
        return active


class StockBroker:
    """A stock Kafka broker, formatted for the cluster of a quorum."""

    def __init__(self, lab, quorum, node_id, log_dirs=1, **more):
        home = lab.directory(f"broker-{node_id}")
        self.node_id = node_id
        self.lab = lab
        self.quorum = quorum
        self.address = f"127.0.0.1:{free_ports(1)}"
        self.log_dirs = [home / f"data-{n}" for n in range(1, log_dirs + 1)]
        entries = {
            "process.roles": "broker",
            "node.id": node_id,
            "controller.quorum.bootstrap.servers": quorum.bootstrap_controllers,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.address}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": ",".join(str(path) for path in self.log_dirs),
            "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 3,
        }
        entries.update({key.replace("_", "."): value for key, value in more.items()})
        self.properties = write_properties(home / "server.properties", entries)
        log = lab.log(f"broker-{node_id}")
        self.server = lab.server(lab.kafka.server(f"broker {node_id}", self.properties, log, heap_mib=256))

    def format(self):
        """Formats its log directories; what the tool said."""
        return self.lab.kafka.format(self.properties, self.quorum.cluster_id)

    def start(self):
        """Starts it and waits until it serves."""
        self.server.start()
        self.server.wait_for("Kafka Server started", 60)
        return self


class StockCluster(JvmControllers):
    """Stock controllers and stock brokers in three racks: what ours is held against."""

    def __init__(self, lab, brokers):
        super().__init__(lab)
        self.brokers = [
            StockBroker(lab, self, node_id, broker_rack=rack)
            for node_id, rack in zip(range(4, 4 + brokers), "abcabc")
        ]
        self.bootstrap = ",".join(broker.address for broker in self.brokers)
        for broker in self.brokers:
            broker.format()

    def start(self):
        super().start()
        for broker in self.brokers:
            if not broker.server.alive():
                broker.server.start()
        for broker in self.brokers:
            broker.server.wait_for("Kafka Server started", 60)
        return self


class Lab:
    """One run of one suite: which Kafka, whose controllers, where files and logs are."""

    def __init__(self, kafka, options, clients, workspace):
        self.kafka = kafka
        self.kind = options.controllers
        self.example = options.cluster
        self.clients = clients
        self.workspace = workspace
        self._servers = []

    def quorum(self):
        """Three controllers without brokers, started."""
        quorum = QuorateCluster(self, brokers=0) if self.kind == "quorate" else JvmControllers(self)
        return quorum.start()

    def cluster(self, brokers=3):
        """Three controllers and brokers of the same make, started."""
        make = QuorateCluster if self.kind == "quorate" else StockCluster
        return make(self, brokers).start()

    def directory(self, name):
        path = self.workspace / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def log(self, name):
        return self.directory("logs") / f"{name}.log"

    def server(self, server):
        self._servers.append(server)
        return server

    def show_logs(self, lines=4):
        """The end of each server's log, for the one who reads why a step failed."""
        for server in self._servers:
            tail = [line for line in server.text().splitlines() if not line.startswith("\tat ")][-lines:]
            state = "runs" if server.alive() else "has ended"
            print(f"     -- {server.name} {state}; the end of its log:", flush=True)
            for line in tail:
                print(f"        {line[:180]}", flush=True)

    def stop_all(self):
        for server in self._servers:
            server.kill()
        self._servers.clear()
        procs.kill_all()


def wait_for_leaders(lab, bootstrap, topic, seconds=30):
    """Waits until each partition of a topic has a leader; the tool's last description."""

    def described():
        out = lab.kafka.tool("kafka-topics", "--bootstrap-server", bootstrap, "--describe", "--topic", topic, ok=False)
        leaders = re.findall(r"Leader:\s+(\S+)", out)
        return out if leaders and "none" not in leaders else None

    return wait_until(described, seconds, f"leaders for all of {topic}")
