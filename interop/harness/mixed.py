"""One quorum of both makes: our controller, and stock ones that were added to it."""

import time
from collections import namedtuple

from .clusters import QuorateCluster, Quorum, StockController, random_uuid
from .procs import free_ports, wait_until
from .steps import Failed

FIRST = 1
STOCK = (11, 12)

Replica = namedtuple("Replica", "role directory lag")
HandOver = namedtuple("HandOver", "successor campaigned took")


class OurController:
    """The example's process with one controller, which begins as a quorum of its own."""

    CAMPAIGNS = ACTIVE = '"controller_active"'  # it does not say that it campaigns

    def __init__(self, lab):
        self.cluster = QuorateCluster(lab, brokers=0, controllers=1)
        self.server = self.cluster.server
        self.node_id = FIRST
        self.address = ""
        self.cluster_id = ""

    def start(self):
        self.cluster.start()
        self.address = self.cluster.controllers[0]
        self.cluster_id = self.cluster.cluster_id
        return self


class MixedQuorum(Quorum):
    """A first controller, ours or with `--controllers jvm` another stock one, and two stock ones."""

    def __init__(self, lab):
        super().__init__(lab)
        self.kind = lab.kind
        self.members = {}
        self.first = None

    def start_first(self):
        """Starts the first controller: a quorum of one voter."""
        if self.kind == "quorate":
            self.first = OurController(self.lab).start()
            self.cluster_id = self.first.cluster_id
        else:
            address = f"127.0.0.1:{free_ports(1)}"
            self.first = StockController(self.lab, FIRST, address, address, self.data_dir / f"controller-{FIRST}")
            self.cluster_id = random_uuid()
            self.first.format(self.cluster_id, "--standalone")
            self.first.start()
        self._take_in(self.first)

    def start_observers(self):
        """Formats and starts the stock controllers, which know no voters but by asking the first."""
        base = free_ports(len(STOCK))
        for n, node_id in enumerate(STOCK):
            home = self.data_dir / f"controller-{node_id}"
            node = StockController(self.lab, node_id, f"127.0.0.1:{base + n}", self.first.address, home)
            node.format(self.cluster_id, "--no-initial-controllers")
            node.server.start()
            self._take_in(node)
        for node_id in STOCK:
            self.members[node_id].wait_until_started()

    @property
    def reachable_controllers(self):
        return ",".join(node.address for node in self.members.values() if node.server.alive())

    def servers(self):
        """The processes, the first last: as a leader it waits for nobody when it ends."""
        return [node.server for node in reversed(self.members.values())]

    def start(self):
        for node in self.members.values():
            if not node.server.alive():
                node.start()
        return self

    def crash_active(self):
        leader = self.leader()
        self.members[leader].server.kill()
        return leader

    def hand_over(self, leader):
        """SIGTERM of the leader; who becomes active instead, when the first campaigned, and when it was active."""
        successors = [node for n, node in self.members.items() if n != leader]
        seen = {node.node_id: len(node.server.text()) for node in successors}
        began = time.monotonic()
        self.members[leader].server.ask_to_end()

        def told(*needles):
            for node in successors:
                news = node.server.text()[seen[node.node_id] :]
                if any(getattr(node, needle) in news for needle in needles):
                    return node.node_id, time.monotonic() - began
            return None

        try:
            _, campaigned = wait_until(lambda: told("CAMPAIGNS", "ACTIVE"), 20, f"campaign after {leader}", every=0.02)
            successor, took = wait_until(lambda: told("ACTIVE"), 20, f"successor of {leader}", every=0.02)
        finally:
            self.members[leader].server.wait_for_end(30)
        return HandOver(successor, campaigned, took)

    def leader(self):
        """The id of the leader."""
        return int(self.status()["LeaderId"])

    def replicas(self, through=None):
        """The voters and observers as `describe --replication` shows them; none while nobody leads."""
        out = self.tool("describe", "--replication", through=through, ok=False)
        rows = [line.split() for line in out.splitlines()]
        return {int(r[0]): Replica(r[-1], r[1], int(r[3])) for r in rows if len(r) == 7 and r[0].isdigit()}

    def wait_for_roles(self, expected, seconds=30, through=None):
        """Waits until every node has its role and lags by nothing; the replicas."""
        last = {}

        def reached():
            nonlocal last
            last = self.replicas(through)
            fits = [n in last and last[n].role in roles and last[n].lag == 0 for n, roles in expected.items()]
            return last if all(fits) else None

        try:
            return wait_until(reached, seconds, f"roles {expected}")
        except Failed as failure:
            raise Failed(f"{failure}; last seen {last or 'nothing'}") from None

    def _take_in(self, node):
        self.members[node.node_id] = node
        self.controllers.append(node.address)
