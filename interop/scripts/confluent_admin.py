"""librdkafka's admin client: one action a call, its result as a line `result JSON`.

    confluent_admin.py BOOTSTRAP ACTION [ARGS…]
"""

import json
import sys

from confluent_kafka import KafkaException, Producer, TopicCollection
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

SECONDS = 20


def result_of(futures):
    """Each item's outcome: null, or the name of Kafka's error."""
    outcome = {}
    for item, future in futures.items():
        try:
            future.result(SECONDS)
            outcome[str(item)] = None
        except KafkaException as error:
            outcome[str(item)] = error.args[0].name()
    return outcome


def create(admin, topic, partitions, replicas):
    return result_of(admin.create_topics([NewTopic(topic, int(partitions), int(replicas))]))


def delete(admin, *topics):
    return result_of(admin.delete_topics(list(topics)))


def grow(admin, topic, partitions):
    return result_of(admin.create_partitions([NewPartitions(topic, int(partitions))]))


def topics(admin):
    return sorted(admin.list_topics(timeout=SECONDS).topics)


def describe(admin, topic):
    future = admin.describe_topics(TopicCollection([topic]))[topic]
    found = future.result(SECONDS)
    return {
        "name": found.name,
        "id": str(found.topic_id),
        "partitions": [
            {"id": p.id, "leader": p.leader and p.leader.id, "replicas": len(p.replicas), "isr": len(p.isr)}
            for p in found.partitions
        ],
    }


def cluster(admin):
    found = admin.describe_cluster().result(SECONDS)
    return {
        "cluster_id": found.cluster_id,
        "controller": found.controller and found.controller.id,
        "nodes": sorted(node.id for node in found.nodes),
        "racks": sorted(str(node.rack) for node in found.nodes),
    }


def configs(admin, topic):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource])[resource].result(SECONDS)
    return {name: entry.value for name, entry in found.items()}


def alter(admin, topic, name, value):
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    return result_of(admin.incremental_alter_configs([resource]))


def produce(admin, topic):
    """The name of the error that a producer's record ends with, or null."""
    seen = []
    producer = Producer({"bootstrap.servers": sys.argv[1], "message.timeout.ms": 15000, "retries": 2})
    producer.produce(topic, b"hello", on_delivery=lambda error, _: seen.append(error and error.name()))
    producer.flush(SECONDS)
    return seen


ACTIONS = [create, delete, grow, topics, describe, cluster, configs, alter, produce]


def main(bootstrap, action, *args):
    admin = AdminClient({"bootstrap.servers": bootstrap, "socket.timeout.ms": 15000})
    chosen = next(function for function in ACTIONS if function.__name__ == action)
    print("result", json.dumps(chosen(admin, *args)))


main(*sys.argv[1:])
