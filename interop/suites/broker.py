"""Stock brokers on the controllers: their whole life, and the data they carry."""

import re
import time

from harness.clusters import StockBroker, wait_for_leaders
from harness.logs import check_same_batches
from harness.procs import wait_until
from harness.steps import Failed, check, step

RECORDS = 2000
GIVEN_LEAVE = "The controller has asked us to exit controlled shutdown"


class BrokerSuite:
    """Stock brokers live on the controllers."""

    NAME = "broker"

    def __init__(self, lab):
        self.lab = lab
        self.kafka = lab.kafka
        self.quorum = None
        self.first = None
        self.second = None

    def stop(self):
        """Nothing beyond the processes that the lab stops."""

    def topics(self, *args, **how):
        return self.kafka.tool("kafka-topics", "--bootstrap-server", self.first.address, *args, **how)

    def create(self, topic, partitions=1, replicas=1):
        return self.topics("--create", "--topic", topic, "--partitions", partitions, "--replication-factor", replicas)

    def produce(self, topic, count, *properties):
        return self.kafka.tool(
            "kafka-producer-perf-test", "--topic", topic, "--num-records", count, "--record-size", 100,
            "--throughput", -1, "--producer-props", f"bootstrap.servers={self.first.address}", *properties,
        )

    def consume(self, topic, count, group):
        return self.kafka.tool(
            "kafka-console-consumer", "--bootstrap-server", self.first.address, "--topic", topic, "--group", group,
            "--from-beginning", "--max-messages", count, "--timeout-ms", 30000,
        )

    # -- start ---------------------------------------------------------------------------------

    @step("three controllers that answer", setup=True)
    def controllers_start(self):
        self.quorum = self.lab.quorum()
        check(len(self.quorum.controllers) == 3, f"controllers {self.quorum.controllers}")
        return f"{self.quorum.bootstrap_controllers}, cluster {self.quorum.cluster_id}"

    @step("a leader among them, named by kafka-metadata-quorum", needs=["controllers_start"])
    def quorum_status(self):
        status = self.quorum.status()
        check(int(status["LeaderId"]) > 0, status)
        check(status["ClusterId"] == self.quorum.cluster_id, status)
        return f"LeaderId {status['LeaderId']}, LeaderEpoch {status['LeaderEpoch']}, CurrentVoters {status['CurrentVoters']}"

    @step("kafka-storage formats a broker for the cluster id", needs=["controllers_start"])
    def format_broker(self):
        self.first = StockBroker(self.lab, self.quorum, 4)
        out = self.first.format()
        check("Formatting" in out, out)
        return out

    @step("Kafka Server started", needs=["format_broker"])
    def broker_start(self):
        began = time.monotonic()
        self.first.start()
        return f"Kafka Server started after {time.monotonic() - began:.1f} s"

    # -- topics and data ------------------------------------------------------------------------

    @step("Created topic orders.", needs=["broker_start"])
    def create_topic(self):
        out = self.create("orders", partitions=3)
        check("Created topic orders." in out, out)
        return out

    @step("kafka-topics --list shows orders", needs=["create_topic"])
    def list_topics(self):
        out = self.topics("--list")
        check("orders" in out.split(), out)
        return out

    @step("three partitions of orders, led by broker 4", needs=["create_topic"])
    def describe_topic(self):
        out = wait_for_leaders(self.lab, self.first.address, "orders")
        check("PartitionCount: 3" in out, out)
        check(re.findall(r"Leader:\s+(\S+)", out) == ["4"] * 3, out)
        return out

    @step(f"a producer with acks=all writes {RECORDS} records", needs=["describe_topic"])
    def produce_acks_all(self):
        out = self.produce("orders", RECORDS, "acks=all", "enable.idempotence=false")
        check(f"{RECORDS} records sent" in out, out)
        return out.splitlines()[-1]

    @step(f"a consumer group reads {RECORDS} records", needs=["produce_acks_all"])
    def consume_in_group(self):
        out = self.consume("orders", RECORDS, "readers")
        check(f"Processed a total of {RECORDS} messages" in out, out[-400:])
        return f"Processed a total of {RECORDS} messages"

    @step("__consumer_offsets was made by the group's first member", needs=["consume_in_group"])
    def offsets_topic(self):
        out = self.topics("--list")
        check("__consumer_offsets" in out.split(), out)
        return out

    @step("an idempotent producer gets its ids and writes", needs=["describe_topic"])
    def produce_idempotent(self):
        out = self.produce("orders", RECORDS, "acks=all", "enable.idempotence=true")
        check(f"{RECORDS} records sent" in out, out)
        return out.splitlines()[-1]

    @step("a transactional producer writes and commits", needs=["describe_topic"])
    def produce_in_transactions(self):
        out = self.produce("orders", 200, "transactional.id=tx-1", "acks=all")
        check("200 records sent" in out, out)
        return out.splitlines()[-1]

    @step("kafka-topics --alter makes 5 partitions of 3", needs=["create_topic"])
    def more_partitions(self):
        self.topics("--alter", "--topic", "orders", "--partitions", 5)
        out = wait_for_leaders(self.lab, self.first.address, "orders")
        check("PartitionCount: 5" in out, out)
        return out.splitlines()[0]

    @step("kafka-configs sets retention.ms=3600000 and the broker knows it", needs=["create_topic"])
    def topic_config(self):
        words = ["--bootstrap-server", self.first.address, "--entity-type", "topics", "--entity-name", "orders"]
        self.kafka.tool("kafka-configs", *words, "--alter", "--add-config", "retention.ms=3600000")
        out = self.kafka.tool("kafka-configs", *words, "--describe")
        check("retention.ms=3600000" in out, out)
        return out

    @step("broker 4 as an observer that follows", needs=["broker_start"])
    def quorum_replication(self):
        found = []
        for flag, value in (
            ("--bootstrap-controller", self.quorum.bootstrap_controllers),
            ("--bootstrap-server", self.first.address),
        ):
            out = self.kafka.tool("kafka-metadata-quorum", flag, value, "describe", "--replication")
            rows = [line.split() for line in out.splitlines()[1:] if line.strip()]
            roles = {row[0]: row[-1] for row in rows}
            check(roles.get("4") == "Observer", out)
            check(sorted(roles.values()).count("Leader") == 1, out)
            found.append(f"{flag[12:]}: {' '.join(f'{k} {v}' for k, v in roles.items())}")
        return "; ".join(found)

    # -- a second broker ------------------------------------------------------------------------

    @step("a broker with two log directories starts", needs=["broker_start"])
    def second_broker(self):
        self.second = StockBroker(self.lab, self.quorum, 5, log_dirs=2)
        self.second.format()
        self.second.start()
        return f"Kafka Server started, {len(self.second.log_dirs)} log directories"

    @step("a topic of replication factor 2, both brokers in sync", needs=["second_broker"])
    def replicated_topic(self):
        self.create("payments", partitions=4, replicas=2)
        return self.in_sync("payments", 2, 30)

    def in_sync(self, topic, count, seconds):
        def described():
            out = self.topics("--describe", "--topic", topic, ok=False)
            members = [isr.split(",") for isr in re.findall(r"Isr:\s+(\S+)", out)]
            return out if members and all(len(isr) == count for isr in members) else None

        return wait_until(described, seconds, f"{count} members in each ISR of {topic}", every=0.3)

    @step("the partitions live in both directories", needs=["replicated_topic"])
    def both_directories(self):
        held = {path.name: len(list(path.glob("payments-*"))) for path in self.second.log_dirs}
        check(all(held.values()), held)
        return held

    @step("acks=all is acknowledged by both replicas", needs=["replicated_topic"])
    def produce_replicated(self):
        out = self.produce("payments", RECORDS, "acks=all")
        check(f"{RECORDS} records sent" in out, out)
        return out.splitlines()[-1]

    @step("kill -9 of broker 5: fenced, broker 4 leads all alone", needs=["replicated_topic"])
    def broker_crash(self):
        self.second.server.kill()
        began = time.monotonic()
        self.in_sync("payments", 1, 30)
        out = wait_for_leaders(self.lab, self.first.address, "payments")
        check(set(re.findall(r"Leader:\s+(\S+)", out)) == {"4"}, out)
        return f"leader 4 and ISR 4 everywhere after {time.monotonic() - began:.1f} s"

    @step("broker 5 comes back and into every ISR", needs=["broker_crash"])
    def broker_returns(self):
        began = time.monotonic()
        self.second.start()
        self.in_sync("payments", 2, 40)
        return f"in sync {time.monotonic() - began:.1f} s after its start"

    @step("SIGTERM of broker 5: leave from the controller, leaders at broker 4", needs=["second_broker"])
    def controlled_shutdown(self):
        began = time.monotonic()
        self.second.server.terminate(60)
        took = time.monotonic() - began
        check(GIVEN_LEAVE in self.second.server.text(), "no word of the controller's leave in its log")
        out = self.topics("--describe")
        check("Leader: 5" not in out, out)
        return f"{GIVEN_LEAVE}; ended after {took:.1f} s"

    # -- the controllers die --------------------------------------------------------------------

    @step("kill -9 of the active controller: the next create is served", needs=["broker_start"])
    def active_controller_crash(self):
        dead = self.quorum.crash_active()
        began = time.monotonic()
        out = self.create("after-the-active-crash")
        took = time.monotonic() - began
        check("Created topic" in out, out)
        self.quorum.start()
        return f"controller {dead} killed; created after {took:.1f} s (the tool's own start included)"

    @step("kill -9 of all controllers and a restart: nothing lost, creates go on", needs=["create_topic"])
    def all_controllers_crash(self):
        before = set(self.topics("--list").split())
        self.quorum.crash()
        self.quorum.start()
        out = self.create("after-the-crash-of-all")
        check("Created topic" in out, out)
        after = set(self.topics("--list").split())
        check(before <= after, f"lost: {sorted(before - after)}")
        return f"{len(before)} topics before, {len(after)} after"

    # -- the end --------------------------------------------------------------------------------

    @step("kafka-topics --delete removes a topic, and its files go", needs=["create_topic"])
    def delete_topic(self):
        self.create("short-lived")
        self.topics("--delete", "--topic", "short-lived")
        wait_until(lambda: "short-lived" not in self.topics("--list").split(), 20, "end of short-lived", every=0.3)
        return "short-lived is no longer listed"

    @step("SIGTERM of broker 4 ends in a controlled shutdown", needs=["broker_start"])
    def stop_broker(self):
        began = time.monotonic()
        code = self.first.server.terminate(60)
        check(GIVEN_LEAVE in self.first.server.text(), "no word of the controller's leave in its log")
        return f"{GIVEN_LEAVE}; exit code {code} after {time.monotonic() - began:.1f} s"

    @step("broker 4 starts again and serves what was written", needs=["stop_broker", "produce_acks_all"])
    def restart_broker(self):
        self.first.start()
        wait_for_leaders(self.lab, self.first.address, "orders")
        out = self.consume("orders", RECORDS, "readers-after-restart")
        check(f"Processed a total of {RECORDS} messages" in out, out[-400:])
        return f"Kafka Server started; Processed a total of {RECORDS} messages"

    @step("kafka-dump-log reads the controllers' log, every batch valid", needs=["create_topic"])
    def dump_log(self):
        log = self.quorum.metadata_logs()[0]
        out = self.kafka.tool("kafka-dump-log", "--cluster-metadata-decoder", "--files", log)
        check("isvalid: false" not in out, "a batch that is not valid")
        for name in ("REGISTER_BROKER_RECORD", "TOPIC_RECORD", "PARTITION_RECORD", "FEATURE_LEVEL_RECORD"):
            check(name in out, f"no {name} in {len(out.splitlines())} lines")
        return f"{len(out.splitlines())} lines, brokers, topics and features among them"

    @step("the metadata log of every controller and of the broker holds the same bytes", needs=["create_topic"])
    def same_bytes(self):
        logs = [*self.quorum.metadata_logs(), *self.first.log_dirs[0].glob("__cluster_metadata-0/*.log")]
        shared = check_same_batches(logs, 4)
        return f"{len(shared)} batches, the same in {len(logs)} logs"

    @step("SIGTERM of the controllers ends them", needs=["controllers_start"])
    def stop_controllers(self):
        self.first and self.first.server.kill()
        began = time.monotonic()
        codes = self.quorum.stop()
        if not codes:
            raise Failed("none was running")
        return f"exit codes {codes} after {time.monotonic() - began:.1f} s"
