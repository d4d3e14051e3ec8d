"""JVM and Rust voters share one quorum: whoever leads, whoever dies, the log stays one."""

import time

from harness.clusters import StockBroker
from harness.logs import check_same_batches
from harness.mixed import FIRST, STOCK, MixedQuorum
from harness.procs import wait_until
from harness.steps import Failed, check, step

VOTER = ("Leader", "Follower")
FETCH_TIMEOUT = 2.0  # seconds; without a hand-over stock controllers wait so long for a leader that is gone
TRIES = 4
LAST_TOPIC = "last-of-all"


class MixedSuite:
    """Our controller and stock controllers are voters of one quorum."""

    NAME = "mixed"

    def __init__(self, lab):
        self.lab = lab
        self.kafka = lab.kafka
        self.quorum = MixedQuorum(lab)
        self.broker = None

    def stop(self):
        """Nothing beyond the processes that the lab stops."""

    def create(self, topic):
        """Creates a topic through the broker; how long it took, the tool's own start included."""
        began = time.monotonic()
        out = self.kafka.tool(
            "kafka-topics", "--bootstrap-server", self.broker.address, "--create", "--topic", topic,
            "--partitions", 2, "--replication-factor", 1, seconds=30,
        )
        check(f"Created topic {topic}" in out, out)
        return f"{topic} created in {time.monotonic() - began:.1f} s"

    def all_voters(self, through=None):
        """The quorum once all three are voters without lag."""
        return self.quorum.wait_for_roles(dict.fromkeys((FIRST, *STOCK), VOTER), through=through)

    def lead_with_first(self):
        """Stops stock leaders in good order, one at a time, until the first controller leads; who led meanwhile."""
        story = []
        for _ in range(TRIES + 1):
            leader = leader_of(self.all_voters())
            if leader == FIRST:
                return story
            if len(story) < TRIES:
                done = self.quorum.hand_over(leader)
                story.append(f"{done.successor} active {done.took:.1f} s after SIGTERM of {leader}")
                self.quorum.start()
        raise Failed(f"controller {FIRST} led after none of {TRIES} tries")

    # -- three voters of two makes --------------------------------------------------------------

    @step("a controller starts as the only voter of a quorum", setup=True)
    def first_voter(self):
        self.quorum.start_first()
        replicas = self.quorum.wait_for_roles({FIRST: ("Leader",)})
        return f"{said(replicas)} at {self.quorum.first.address}, cluster {self.quorum.cluster_id}"

    @step("two stock controllers that know no voters start and become observers", needs=["first_voter"])
    def observers(self):
        self.quorum.start_observers()
        return said(self.quorum.wait_for_roles({FIRST: ("Leader",)} | dict.fromkeys(STOCK, ("Observer",))))

    @step("kafka-metadata-quorum add-controller, twice: three voters", needs=["observers"])
    def add_controllers(self):
        for node_id in STOCK:
            properties = self.quorum.members[node_id].properties
            out = self.quorum.tool("--command-config", properties, "add-controller", through=self.quorum.first.address)
            check(f"Added controller {node_id}" in out, out)
        return said(self.all_voters())

    @step("a stock broker starts on the three", needs=["add_controllers"])
    def broker_start(self):
        self.broker = StockBroker(self.lab, self.quorum, 4)
        self.broker.format()
        self.broker.start()
        return f"Kafka Server started, with {self.quorum.bootstrap_controllers}"

    @step("a topic is created", needs=["broker_start"])
    def create_topic(self):
        return self.create("first-of-all")

    # -- crashes --------------------------------------------------------------------------------

    @step("kill -9 of our controller: a stock one leads and a create is acknowledged", needs=["create_topic"])
    def first_crash(self):
        self.quorum.first.server.kill()
        created = self.create("led-by-the-jvm")
        leader = self.quorum.leader()
        check(leader in STOCK, f"leader {leader}")
        return f"controller {leader} leads; {created}"

    @step("our controller returns on its files: a follower without lag, says a stock one", needs=["first_crash"])
    def first_returns(self):
        began = time.monotonic()
        self.quorum.first.start()
        replicas = self.all_voters(through=self.quorum.members[STOCK[0]].address)
        check(replicas[FIRST].role == "Follower", said(replicas))
        return f"{said(replicas)} after {time.monotonic() - began:.1f} s"

    @step("kill -9 of the stock leader: another voter leads, a create is acknowledged", needs=["first_returns"])
    def stock_leader_crash(self):
        dead = self.quorum.crash_active()
        check(dead in STOCK, f"controller {dead} had led")
        created = self.create("after-the-leader-crash")
        leader = self.quorum.leader()
        check(leader != dead, f"controller {dead} still leads")
        self.quorum.start()
        return f"{dead} killed, {leader} leads; {created}"

    # -- in good order --------------------------------------------------------------------------

    @step("SIGTERM of a stock follower: creates go on, it returns without lag", needs=["stock_leader_crash"])
    def follower_restart(self):
        follower = stock_follower(self.all_voters())
        self.quorum.members[follower].server.terminate(30)
        created = self.create("without-a-follower")
        self.quorum.start()
        return f"{follower} stopped; {created}; {said(self.all_voters())}"

    @step("SIGTERM of our controller as leader: a stock one campaigns at once and leads", needs=["follower_restart"])
    def hand_over_to_stock(self):
        self.lead_with_first()
        done = self.quorum.hand_over(FIRST)
        told = f"a campaign {done.campaigned:.1f} s and {done.successor} active {done.took:.1f} s after SIGTERM"
        check(done.campaigned < FETCH_TIMEOUT, told)
        created = self.create("handed-to-the-jvm")
        self.quorum.start()
        return f"{told}; {created}"

    @step(f"SIGTERM of stock leaders: ours is handed the lead within {TRIES} tries", needs=["hand_over_to_stock"])
    def hand_over_to_first(self):
        story = self.lead_with_first() or ["it led already"]
        return f"{', '.join(story)}; {self.create('handed-back')}"

    # -- the end --------------------------------------------------------------------------------

    @step("remove-controller through ours: two voters, a create is acknowledged", needs=["hand_over_to_first"])
    def remove_controller(self):
        replicas = self.all_voters()
        node_id = stock_follower(replicas)
        self.quorum.tool(
            "remove-controller", "--controller-id", node_id, "--controller-directory-id", replicas[node_id].directory,
            through=self.quorum.first.address,
        )
        replicas = self.quorum.wait_for_roles(dict.fromkeys({FIRST, *STOCK} - {node_id}, VOTER))
        check(replicas.get(node_id) is None or replicas[node_id].role == "Observer", replicas)
        return f"{node_id} removed, {said(replicas)}; {self.create(LAST_TOPIC)}"

    @step("the metadata log of every controller and of the broker holds the same bytes", needs=["remove_controller"])
    def same_bytes(self):
        logs = [*self.quorum.metadata_logs(), *self.broker.log_dirs[0].glob("__cluster_metadata-0/*.log")]
        for log in logs:
            wait_until(lambda: LAST_TOPIC.encode() in log.read_bytes(), 10, f"{LAST_TOPIC} in {log}")
        shared = check_same_batches(logs, 4)
        check(any(LAST_TOPIC.encode() in batch for batch in shared), f"{LAST_TOPIC} is not in what all share")
        epochs = {int.from_bytes(batch[12:16], "big") for batch in shared}
        return f"{len(shared)} batches of epochs {min(epochs)} to {max(epochs)}, the same in {len(logs)} logs"

    @step("SIGTERM of broker and controllers ends them", needs=["broker_start"])
    def stop_all(self):
        self.broker.server.terminate(60)
        began = time.monotonic()
        return f"exit codes {self.quorum.stop()} after {time.monotonic() - began:.1f} s"


def leader_of(replicas):
    """The id of the leader."""
    return next(n for n, replica in replicas.items() if replica.role == "Leader")


def stock_follower(replicas):
    """The id of a stock controller that follows."""
    return next(n for n in STOCK if replicas[n].role == "Follower")


def said(replicas):
    """The quorum as a person would say it."""
    return ", ".join(f"{n} {replica.role.lower()} (lag {replica.lag})" for n, replica in sorted(replicas.items()))
