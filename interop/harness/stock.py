"""Stock Kafka: fetched from Maven, its tools and its servers."""

import os
import pathlib
import shutil

from . import procs
from .steps import Failed

LOG4J = "2.25.1"
CACHE = pathlib.Path(__file__).resolve().parent.parent / ".cache"

TOOLS = {
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
MOVED = {  # tool: (first release with the new name, the new name)
    "kafka-dump-log": ((4, 3), "org.apache.kafka.tools.DumpLogSegments"),
    "kafka-configs": ((4, 4), "org.apache.kafka.tools.ConfigCommand"),
}

LOG_CONFIG = """<Configuration status="ERROR"><Appenders><Console name="out">
<PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders>
<Loggers><Root level="{level}"><AppenderRef ref="out"/></Root></Loggers></Configuration>
"""
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>interop</groupId>
<artifactId>stock-kafka</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId>"
    "<version>{}</version><scope>runtime</scope></dependency>"
)


class Kafka:
    """One release of stock Kafka: its jars, and what is run with them."""

    def __init__(self, version):
        self.version = version
        self.release = tuple(int(part) for part in version.split(".")[:2])
        self.home = CACHE / f"kafka-{version}"

    def fetch(self):
        """Brings the jars here, once."""
        if not shutil.which("java") or not shutil.which("mvn"):
            raise Failed("java and mvn are needed to run stock Kafka")
        if not (self.home / "libs").is_dir():
            self._download()
        for level in ("ERROR", "INFO"):
            path = self.home / f"log4j-{level}.xml"
            if not path.exists():
                path.write_text(LOG_CONFIG.format(level=level))
        return self

    def _download(self):
        build = CACHE / f"kafka-{self.version}.part"
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        wanted = [("org.apache.kafka", name, self.version) for name in ("kafka_2.13", "kafka-tools")]
        wanted += [
            ("org.apache.logging.log4j", name, LOG4J)
            for name in ("log4j-slf4j-impl", "log4j-core", "log4j-1.2-api")
        ]
        pom = build / "pom.xml"
        pom.write_text(POM.format("".join(DEPENDENCY.format(*entry) for entry in wanted)))
        code, out = procs.run(
            ["mvn", "-B", "-q", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={build}/libs"],
            seconds=300,
        )
        if code != 0:
            raise Failed(f"Maven has no Kafka {self.version}: {out[-600:]}")
        build.rename(self.home)

    def main_class(self, tool):
        since, name = MOVED.get(tool, ((99, 0), ""))
        return name if self.release >= since else TOOLS[tool]

    def java(self, main, level, heap_mib, *flags):
        return [
            "java",
            f"-Xmx{heap_mib}m",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            *flags,
            f"-Dlog4j2.configurationFile={self.home}/log4j-{level}.xml",
            "-cp",
            f"{self.home}/libs/*",
            main,
        ]

    def tool(self, name, *args, seconds=60, stdin="", ok=True):
        """Runs one of Kafka's scripts; what it printed. With `ok`, a failure of it is one of the step."""
        argv = self.java(self.main_class(name), "ERROR", 160, "-XX:TieredStopAtLevel=1", "-Xss512k")
        code, out = procs.run(argv + [str(arg) for arg in args], seconds=seconds, stdin=stdin)
        out = "\n".join(line for line in out.splitlines() if "WARNING" not in line or "sun.misc" not in line)
        if ok and code != 0:
            raise Failed(f"{name} ended with {code}: {out[-4000:]}")
        return out

    def format(self, properties, cluster_id, *args):
        """Formats the log directories that the properties name."""
        return self.tool("kafka-storage", "format", "--config", properties, "--cluster-id", cluster_id, *args)

    def server(self, name, properties, log, heap_mib=220):
        """A Kafka server that is not started yet."""
        logs = properties.parent / "server-logs"
        argv = self.java("kafka.Kafka", "INFO", heap_mib, "-Xms64m", f"-Dkafka.logs.dir={logs}")
        return procs.Server(name, argv + [str(properties)], log, env=dict(os.environ))


def write_properties(path, entries):
    """Writes a properties file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
    return path
