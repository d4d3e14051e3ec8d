"""Processes and ports: started in groups of their own, waited for with a bound, gone at the end."""

import atexit
import ctypes
import os
import random
import signal
import socket
import subprocess
import time

from .steps import Failed

PORTS = range(20000, 32000)
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
_live = set()


def _die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(condition, seconds, what, every=0.1):
    """Waits for the condition's first true value and returns it; fails after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"no {what} within {seconds} s")
        time.sleep(every)


def free_ports(count):
    """A block of ports that nobody listens on, below those the kernel hands out."""
    for _ in range(200):
        base = random.randrange(PORTS.start, PORTS.stop - count, 10)
        if all(_is_free(port) for port in range(base, base + count)):
            return base
    raise Failed(f"found no {count} free ports in a row")


def _is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def run(argv, seconds=60, stdin="", env=None):
    """Runs a command to its end; what it printed and its exit code. Never longer than `seconds`."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_die_with_parent,
    )
    _live.add(process)
    try:
        out, _ = process.communicate(stdin, timeout=seconds)
        return process.returncode, out
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        out, _ = process.communicate()
        return None, f"no end within {seconds} s: {out}"
    finally:
        _live.discard(process)


class Server:
    """A process that stays; its output goes to a file that is looked through while it runs."""

    def __init__(self, name, argv, log, env=None):
        self.name = name
        self.argv = [str(word) for word in argv]
        self.log = log
        self.env = env
        self.process = None
        self.from_byte = 0

    def start(self):
        """Starts it (again); the log goes on in the same file."""
        self.from_byte = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as sink:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=self.env,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        _live.add(self.process)
        return self

    def text(self):
        """What it has printed since its last start."""
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as source:
            source.seek(self.from_byte)
            return source.read().decode(errors="replace")

    def wait_for(self, needle, seconds):
        """Waits until its log holds the text; fails at once if the process ends first."""

        def seen():
            if needle in self.text():
                return True
            if not self.alive():
                raise Failed(f"{self.name} ended with code {self.process.returncode} before {needle!r}")
            return False

        wait_until(seen, seconds, f"{needle!r} from {self.name}")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def rss_mib(self):
        """Resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) // 1024
        return 0

    def kill(self):
        """kill -9: no flush, no goodbye."""
        self._end(signal.SIGKILL, 10)

    def terminate(self, seconds):
        """SIGTERM; the exit code, or a failure when it does not end in time."""
        self.ask_to_end()
        return self.wait_for_end(seconds)

    def ask_to_end(self):
        """SIGTERM, and no wait for what comes of it."""
        if self.alive():
            _signal(self.process, signal.SIGTERM)

    def wait_for_end(self, seconds):
        """The exit code after SIGTERM, or a failure when it does not end in time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.name} did not end within {seconds} s of SIGTERM") from None
        _live.discard(self.process)
        return self.process.returncode

    def _end(self, number, seconds):
        if self.process is None:
            return
        if self.alive():
            _signal(self.process, number)
            self.process.wait(seconds)
        _live.discard(self.process)


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def kill_all():
    """Ends everything that still runs."""
    for process in list(_live):
        _signal(process, signal.SIGKILL)
        process.wait(10)
        _live.discard(process)


def kill_all_at_exit():
    """Whatever way the harness ends, nothing it started outlives it."""
    atexit.register(kill_all)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: (_ for _ in ()).throw(SystemExit(130)))
