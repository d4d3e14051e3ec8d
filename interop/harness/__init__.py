"""What the suites share: steps, processes, stock Kafka, clusters, clients, raw frames."""
