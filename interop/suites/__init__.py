"""One module a suite: what stock Kafka and stock clients must find when they meet us."""

from .broker import BrokerSuite
from .clients import ClientsSuite
from .hostile import HostileSuite
from .mixed import MixedSuite

SUITES = [BrokerSuite, MixedSuite, ClientsSuite, HostileSuite]
