"""kafka-python's admin client: one action a call, its result as a line `result JSON`.

    kafka_python_admin.py BOOTSTRAP ACTION [ARGS…]
"""

import json
import sys

from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import KafkaError


def create(admin, topic, partitions, replicas):
    return str(admin.create_topics([NewTopic(topic, int(partitions), int(replicas))], timeout_ms=15000))


def topics(admin):
    return sorted(admin.list_topics())


def describe(admin, topic):
    return admin.describe_topics([topic])


def grow(admin, topic, partitions):
    return str(admin.create_partitions({topic: NewPartitions(int(partitions))}, timeout_ms=15000))


def configs(admin, topic):
    return admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all")


def alter(admin, topic, name, value):
    return str(admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})]))


def cluster(admin):
    return admin.describe_cluster()


def quorum(admin):
    return admin.describe_metadata_quorum()


def delete(admin, topic):
    return str(admin.delete_topics([topic], timeout_ms=15000))


def produce(admin, topic):
    """The error that a producer's record ends with, or null."""
    producer = KafkaProducer(bootstrap_servers=sys.argv[1].split(","), retries=1, delivery_timeout_ms=15000, request_timeout_ms=5000)
    try:
        producer.send(topic, b"hello").get(timeout=20)
        return None
    except KafkaError as error:
        return f"{type(error).__name__}: {error}"


ACTIONS = [create, topics, describe, grow, configs, alter, cluster, quorum, delete, produce]


def main(bootstrap, action, *args):
    admin = KafkaAdminClient(bootstrap_servers=bootstrap.split(","), request_timeout_ms=15000)
    chosen = next(function for function in ACTIONS if function.__name__ == action)
    try:
        print("result", json.dumps(chosen(admin, *args), default=str))
    except KafkaError as error:
        print("result", json.dumps({"error": type(error).__name__, "text": str(error)}))
    finally:
        admin.close()


main(*sys.argv[1:])
