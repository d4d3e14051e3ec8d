"""Stock clients: kcat from Debian, confluent-kafka and kafka-python in an environment of their own."""

import json
import pathlib
import shutil
import sys

from . import procs
from .stock import CACHE
from .steps import Failed

HOME = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = HOME / "scripts"
REQUIREMENTS = HOME / "requirements.txt"


class Clients:
    """The clients, installed when they are first asked for."""

    def __init__(self):
        self.python = CACHE / "venv" / "bin" / "python"

    def install(self):
        """Brings kcat and the Python clients here, unless they are."""
        if not shutil.which("kcat"):
            self._must(["apt-get", "install", "-y", "-q", "kcat"], ["apt-get", "update", "-q"])
        wanted = REQUIREMENTS.read_text()
        done = CACHE / "venv" / "installed.txt"
        if not done.exists() or done.read_text() != wanted:
            shutil.rmtree(CACHE / "venv", ignore_errors=True)
            self._must([sys.executable, "-m", "venv", str(CACHE / "venv")])
            pip = [str(self.python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            self._must([*pip, "-r", str(REQUIREMENTS)])
            done.write_text(wanted)
        return self

    def kcat(self, *args, seconds=30, stdin="", ok=True):
        """Runs kcat; what it printed."""
        code, out = procs.run(["kcat", *map(str, args)], seconds=seconds, stdin=stdin)
        if ok and code != 0:
            raise Failed(f"kcat ended with {code}: {out[-600:]}")
        return out

    def call(self, script, *args, seconds=60):
        """Runs one of our client scripts; the JSON value of its line `result …`."""
        code, out = procs.run([str(self.python), str(SCRIPTS / script), *map(str, args)], seconds=seconds)
        if code != 0:
            raise Failed(f"{script} {' '.join(map(str, args))} ended with {code}: {out[-600:]}")
        found = [line for line in out.splitlines() if line.startswith("result ")]
        if not found:
            raise Failed(f"{script} {' '.join(map(str, args))} gave no result: {out[-600:]}")
        return json.loads(found[-1].removeprefix("result "))

    @staticmethod
    def _must(argv, first=None):
        if first:
            procs.run(first, seconds=300)
        code, out = procs.run(argv, seconds=300)
        if code != 0:
            raise Failed(f"{' '.join(argv[:4])} ended with {code}: {out[-600:]}")
