"""Stock clients and tools against the whole cluster, brokers included."""

import json
import re

from harness.clusters import wait_for_leaders
from harness.procs import wait_until
from harness.steps import Failed, Skipped, check, step

BROKERS = 3


class ClientsSuite:
    """Stock clients and tools talk to the cluster."""

    NAME = "clients"

    def __init__(self, lab):
        self.lab = lab
        self.kafka = lab.kafka
        self.clients = lab.clients
        self.cluster = None

    def stop(self):
        """Nothing beyond the processes that the lab stops."""

    @property
    def bootstrap(self):
        return self.cluster.bootstrap

    def topics(self, *args, **how):
        return self.kafka.tool("kafka-topics", "--bootstrap-server", self.bootstrap, *args, **how)

    def configs(self, topic, *args):
        words = ["--bootstrap-server", self.bootstrap, "--entity-type", "topics", "--entity-name", topic]
        return self.kafka.tool("kafka-configs", *words, *args)

    def quorum(self, *args):
        """The tool's answer through a controller, then through a broker."""
        return [
            self.kafka.tool("kafka-metadata-quorum", flag, value, "describe", *args)
            for flag, value in (
                ("--bootstrap-controller", self.cluster.bootstrap_controllers),
                ("--bootstrap-server", self.bootstrap),
            )
        ]

    def librdkafka(self, *args):
        return self.clients.call("confluent_admin.py", self.bootstrap, *args)

    def kafka_python(self, *args):
        return self.clients.call("kafka_python_admin.py", self.bootstrap, *args)

    # -- start ---------------------------------------------------------------------------------

    @step("three controllers and three brokers that answer", setup=True)
    def cluster_start(self):
        self.cluster = self.lab.cluster(BROKERS)
        addresses = self.bootstrap.split(",")
        check(len(addresses) == BROKERS, self.bootstrap)
        return f"brokers {self.bootstrap}, controllers {self.cluster.bootstrap_controllers}"

    # -- kcat ----------------------------------------------------------------------------------

    @step("kcat -L shows three brokers", needs=["cluster_start"])
    def kcat_lists(self):
        return wait_until(self._three_brokers, 20, "three brokers in kcat -L")

    def _three_brokers(self):
        out = self.clients.kcat("-L", "-b", self.bootstrap, ok=False)
        return out if f" {BROKERS} brokers:" in out else None

    # -- Kafka's tools -------------------------------------------------------------------------

    @step("Created topic orders.", needs=["cluster_start"])
    def topics_create(self):
        out = self.topics("--create", "--topic", "orders", "--partitions", 6, "--replication-factor", 3)
        check("Created topic orders." in out, out)
        return out

    @step("kafka-topics --list shows orders", needs=["topics_create"])
    def topics_list(self):
        out = self.topics("--list")
        check("orders" in out.split(), out)
        return out

    @step("six partitions, three replicas each, all in sync, leaders on three brokers", needs=["topics_create"])
    def topics_describe(self):
        out = wait_for_leaders(self.lab, self.bootstrap, "orders")
        check("PartitionCount: 6" in out and "ReplicationFactor: 3" in out, out)
        check(all(len(isr.split(",")) == 3 for isr in re.findall(r"Isr:\s+(\S+)", out)), out)
        check(len(set(re.findall(r"Leader:\s+(\S+)", out))) == BROKERS, out)
        return out.splitlines()[0] + " " + " ".join(re.findall(r"Leader: \S+", out))

    @step("kcat -L -J shows the same leaders of orders whichever broker is asked", needs=["topics_describe"])
    def kcat_json(self):
        seen = set()
        for address in self.bootstrap.split(","):
            found = json.loads(self.clients.kcat("-L", "-J", "-b", address, "-t", "orders"))
            check(len(found["brokers"]) == BROKERS, found)
            topic = found["topics"][0]
            check("error" not in topic, topic)
            seen.add(json.dumps([topic["topic"], sorted((p["partition"], p["leader"]) for p in topic["partitions"])]))
        check(len(seen) == 1, f"brokers differ: {seen}")
        return seen.pop()

    @step("TopicExistsException for a second orders", needs=["topics_create"])
    def refuses_existing_topic(self):
        return self._refused("already exists", "--topic", "orders", "--partitions", 1, "--replication-factor", 1)

    @step("InvalidReplicationFactorException for nine replicas on three brokers", needs=["cluster_start"])
    def refuses_replication_factor(self):
        return self._refused(
            "InvalidReplicationFactorException", "--topic", "wide", "--partitions", 1, "--replication-factor", 9
        )

    @step("InvalidPartitionsException for no partitions at all, from the cluster", needs=["cluster_start"])
    def refuses_zero_partitions(self):
        came = self.librdkafka("create", "hollow", 0, 1)
        check(came == {"hollow": "INVALID_PARTITIONS"}, came)
        return came

    def _refused(self, word, *args):
        out = self.topics("--create", *args, ok=False)
        check("Created topic" not in out, out)
        check(word in out, out)
        return next(line for line in out.splitlines() if word in line)

    @step("kafka-topics --alter makes 8 partitions of 6", needs=["topics_describe"])
    def topics_alter(self):
        self.topics("--alter", "--topic", "orders", "--partitions", 8)
        out = wait_for_leaders(self.lab, self.bootstrap, "orders")
        check("PartitionCount: 8" in out, out)
        return out.splitlines()[0]

    @step("kafka-configs describes, sets and deletes retention.ms", needs=["topics_create"])
    def configs_of_topic(self):
        self.configs("orders", "--alter", "--add-config", "retention.ms=60000,cleanup.policy=compact")
        out = self.configs("orders", "--describe")
        check("retention.ms=60000" in out and "cleanup.policy=compact" in out, out)
        self.configs("orders", "--alter", "--delete-config", "cleanup.policy")
        after = self.configs("orders", "--describe")
        check("retention.ms=60000" in after and "cleanup.policy" not in after, after)
        return after

    @step("kafka-configs --describe --all knows every default", needs=["topics_create"])
    def configs_all(self):
        out = self.configs("orders", "--describe", "--all")
        for name in ("max.message.bytes=", "segment.bytes=", "min.insync.replicas=", "compression.type="):
            check(name in out, f"no {name} in {out}")
        return f"{len(out.splitlines()) - 1} configs"

    @step("the same leader and voters through a controller and a broker", needs=["cluster_start"])
    def quorum_status(self):
        statuses = [dict(re.findall(r"^(\w+):\s+(.*)$", out, re.MULTILINE)) for out in self.quorum("--status")]
        for status in statuses:
            check(status["ClusterId"] == self.cluster.cluster_id, status)
            check(int(status["LeaderId"]) > 0 and int(status["HighWatermark"]) > 0, status)
        check(len({status["LeaderId"] for status in statuses}) == 1, statuses)
        check(len({status["CurrentVoters"] for status in statuses}) == 1, statuses)
        return f"LeaderId {statuses[0]['LeaderId']}, LeaderEpoch {statuses[0]['LeaderEpoch']}, MaxFollowerLag {statuses[0]['MaxFollowerLag']}"

    @step("one leader, two followers, three observers", needs=["kcat_lists"])
    def quorum_replication(self):
        for out in self.quorum("--replication"):
            roles = sorted(line.split()[-1] for line in out.splitlines()[1:] if line.strip())
            check(roles == ["Follower"] * 2 + ["Leader"] + ["Observer"] * BROKERS, out)
        return f"{roles} through both"

    @step("kafka-cluster cluster-id prints the id", needs=["cluster_start"])
    def cluster_id(self):
        out = self.kafka.tool("kafka-cluster", "cluster-id", "--bootstrap-server", self.bootstrap)
        check(f"Cluster ID: {self.cluster.cluster_id}" in out, out)
        return out

    @step("kafka-features shows metadata.version and kraft.version, through both", needs=["cluster_start"])
    def features(self):
        for flag, value in (
            ("--bootstrap-controller", self.cluster.bootstrap_controllers),
            ("--bootstrap-server", self.bootstrap),
        ):
            out = self.kafka.tool("kafka-features", flag, value, "describe")
            levels = dict(re.findall(r"Feature: (\S+).*FinalizedVersionLevel: (\S+)", out))
            check("metadata.version" in levels and "kraft.version" in levels, out)
        return " ".join(f"{name} {level}" for name, level in levels.items())

    @step("a topic that is not there is called unknown", needs=["cluster_start"])
    def unknown_topic(self):
        out = self.topics("--describe", "--topic", "nowhere", ok=False)
        check("does not exist" in out, out)
        return out.splitlines()[0]

    # -- librdkafka ----------------------------------------------------------------------------

    @step("librdkafka: describe_cluster names id, controller, nodes and racks", needs=["kcat_lists"])
    def librdkafka_cluster(self):
        came = self.librdkafka("cluster")
        check(came["cluster_id"] == self.cluster.cluster_id, came)
        check(len(came["nodes"]) == BROKERS and came["controller"] in came["nodes"], came)
        check(came["racks"] == ["a", "b", "c"], came)
        return came

    @step("librdkafka: create_topics, then TOPIC_ALREADY_EXISTS", needs=["kcat_lists"])
    def librdkafka_create(self):
        came = [self.librdkafka("create", "rd-topic", 2, 3), self.librdkafka("create", "rd-topic", 2, 3)]
        check(came == [{"rd-topic": None}, {"rd-topic": "TOPIC_ALREADY_EXISTS"}], came)
        return came

    @step("librdkafka: describe_topics shows id, leaders, replicas", needs=["librdkafka_create"])
    def librdkafka_describe(self):
        came = wait_until(
            lambda: (found := self.librdkafka("describe", "rd-topic"))
            and all(p["leader"] is not None for p in found["partitions"])
            and found,
            20,
            "leaders of rd-topic",
        )
        check([(p["replicas"], p["isr"]) for p in came["partitions"]] == [(3, 3), (3, 3)], came)
        return came

    @step("librdkafka: create_partitions, then INVALID_PARTITIONS for fewer", needs=["librdkafka_create"])
    def librdkafka_partitions(self):
        came = [self.librdkafka("grow", "rd-topic", 5), self.librdkafka("grow", "rd-topic", 3)]
        check(came == [{"rd-topic": None}, {"rd-topic": "INVALID_PARTITIONS"}], came)
        return came

    @step("librdkafka: incremental_alter_configs, seen by describe_configs", needs=["librdkafka_create"])
    def librdkafka_configs(self):
        came = self.librdkafka("alter", "rd-topic", "retention.ms", "123456")
        check(list(came.values()) == [None], came)
        found = self.librdkafka("configs", "rd-topic")
        check(found.get("retention.ms") == "123456", found.get("retention.ms"))
        check(found.get("cleanup.policy") == "delete", found.get("cleanup.policy"))
        return f"retention.ms {found['retention.ms']} among {len(found)} configs"

    @step("librdkafka: a wrong config value is INVALID_CONFIG", needs=["librdkafka_create"])
    def librdkafka_wrong_config(self):
        came = self.librdkafka("alter", "rd-topic", "retention.ms", "soon")
        check(list(came.values()) == ["INVALID_CONFIG"], came)
        return came

    @step("librdkafka: delete_topics, then UNKNOWN_TOPIC_OR_PART", needs=["librdkafka_create"])
    def librdkafka_delete(self):
        came = [self.librdkafka("delete", "rd-topic"), self.librdkafka("delete", "rd-topic")]
        check(came == [{"rd-topic": None}, {"rd-topic": "UNKNOWN_TOPIC_OR_PART"}], came)
        return came

    # -- kafka-python --------------------------------------------------------------------------

    @step("kafka-python: creates, lists and describes a topic", needs=["kcat_lists"])
    def kafka_python_create(self):
        self._no_error(self.kafka_python("create", "py-topic", 2, 2))
        wait_until(lambda: "py-topic" in self.kafka_python("topics"), 20, "py-topic in the list")
        came = self.kafka_python("describe", "py-topic")
        check(len(came[0]["partitions"]) == 2, came)
        return came[0]

    @step("kafka-python: TopicAlreadyExistsError for the same name", needs=["kafka_python_create"])
    def kafka_python_refused(self):
        came = self.kafka_python("create", "py-topic", 2, 2)
        check(isinstance(came, dict) and came.get("error") == "TopicAlreadyExistsError", came)
        return came

    @step("kafka-python: configs and partitions are changed and seen", needs=["kafka_python_create"])
    def kafka_python_alter(self):
        self._no_error(self.kafka_python("alter", "py-topic", "retention.ms", "654321"))
        self._no_error(self.kafka_python("grow", "py-topic", 3))
        found = json.dumps(self.kafka_python("configs", "py-topic"))
        check("654321" in found, found)
        wait_until(lambda: len(self.kafka_python("describe", "py-topic")[0]["partitions"]) == 3, 20, "3 partitions")
        return "retention.ms 654321, 3 partitions"

    @step("kafka-python: describes cluster and metadata quorum", needs=["kcat_lists"])
    def kafka_python_cluster(self):
        came = self.kafka_python("cluster")
        check(self.cluster.cluster_id in json.dumps(came), came)
        self._no_error(quorum := self.kafka_python("quorum"))
        return f"{came['cluster_id'] if 'cluster_id' in came else came}; quorum {quorum}"

    @step("kafka-python: deletes the topic", needs=["kafka_python_create"])
    def kafka_python_delete(self):
        self._no_error(self.kafka_python("delete", "py-topic"))
        wait_until(lambda: "py-topic" not in self.kafka_python("topics"), 20, "end of py-topic")
        return "py-topic is no longer listed"

    @staticmethod
    def _no_error(came):
        check(not (isinstance(came, dict) and "error" in came), came)
        return came

    # -- user data is not ours -----------------------------------------------------------------

    @step("a producer is told at once that data is not taken here", needs=["topics_create"])
    def produce_is_refused(self):
        if self.lab.kind == "jvm":
            raise Skipped("stock brokers take data")
        came = self.librdkafka("produce", "orders")
        check(came and came[0] and came[0] not in ("_MSG_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN"), came)
        python = self.kafka_python("produce", "orders")
        check(python and "Timeout" not in python, python)
        return f"librdkafka {came[0]}, kafka-python {python}"

    # -- the end -------------------------------------------------------------------------------

    @step("kafka-topics --delete removes orders", needs=["topics_create"])
    def topics_delete(self):
        self.topics("--delete", "--topic", "orders")
        wait_until(lambda: "orders" not in self.topics("--list").split(), 20, "end of orders", every=0.3)
        return "orders is no longer listed"

    @step("kafka-dump-log reads the metadata logs, every batch valid", needs=["topics_create"])
    def dump_log(self):
        logs = self.cluster.metadata_logs()
        out = self.kafka.tool("kafka-dump-log", "--cluster-metadata-decoder", "--files", ",".join(map(str, logs)))
        check("isvalid: false" not in out, "a batch that is not valid")
        for name in ("REGISTER_BROKER_RECORD", "TOPIC_RECORD", "PARTITION_RECORD", "FEATURE_LEVEL_RECORD"):
            check(name in out, f"no {name} in {len(out.splitlines())} lines")
        return f"{len(out.splitlines())} lines from {len(logs)} segments"

    @step("SIGTERM ends the cluster cleanly", needs=["cluster_start"])
    def cluster_stop(self):
        for broker in getattr(self.cluster, "brokers", []):
            broker.server.terminate(60)
        codes = self.cluster.stop()
        clean = {"quorate": {0}, "jvm": {143}}[self.lab.kind]
        if set(codes) != clean:
            raise Failed(f"exit codes {codes}")
        return f"exit codes {codes}"
