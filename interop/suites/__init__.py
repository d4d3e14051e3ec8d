"""One module a suite: what stock Kafka and stock clients must find when they meet us."""

from .broker import BrokerSuite
from .clients import ClientsSuite
from .hostile import HostileSuite

SUITES = [BrokerSuite, ClientsSuite, HostileSuite]
