"""Steps: what is expected, what came, one line each, and the count at the end.

A suite is a class whose methods are steps, run in the order they are written. A step returns a
string that says what came, or raises `Failed` with it. A step that needs another one that failed
is not tried and counts as failed; one that does not apply says so through `Skipped` and counts as
neither.
"""

import time
import traceback


class Failed(Exception):
    """What came was not what was expected; the text says what came."""


class Skipped(Exception):
    """The step does not apply to what is running; the text says why."""


class Step:
    def __init__(self, method, expect, needs, setup):
        self.method = method
        self.name = method.__name__.replace("_", "-")
        self.expect = expect
        self.needs = tuple(name.replace("_", "-") for name in needs)
        self.setup = setup


def step(expect, needs=(), setup=False):
    """Makes a method a step. `setup` steps run whatever `--only` says."""

    def mark(method):
        method.step = Step(method, expect, needs, setup)
        return method

    return mark


def check(condition, came):
    """Fails the step with what came, unless the condition holds."""
    if not condition:
        raise Failed(came)


def steps_of(suite):
    """The steps of a suite class, in the order they were written; what one needs stands before it."""
    entries = [entry.step for entry in vars(suite).values() if hasattr(entry, "step")]
    known = set()
    for entry in entries:
        assert known.issuperset(entry.needs), f"{suite.NAME}.{entry.name} needs what does not stand before it"
        known.add(entry.name)
    return entries


def one_line(text, limit=240):
    """The text as a line that a person still reads."""
    flat = " | ".join(part.strip() for part in str(text).splitlines() if part.strip())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def without_traces(text):
    """The text without the frames of Java's stack traces."""
    return "\n".join(line for line in str(text).splitlines() if not line.lstrip().startswith("at "))


class Report:
    """Prints each step's outcome and counts them."""

    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = 0

    def ok(self, name, expect, came, took):
        self.passed += 1
        self._say("ok  ", name, expect, came, took)

    def fail(self, name, expect, came, took):
        self.failed.append(name)
        self._say("FAIL", name, expect, without_traces(came), took, limit=1000)

    def skip(self, name, expect, why):
        self.skipped += 1
        print(f"skip {name}: expected {expect}; not tried: {one_line(why)}", flush=True)

    def close(self):
        """Prints the closing line; the exit code to end with."""
        if self.failed:
            print("failed: " + ", ".join(self.failed), flush=True)
        print(f"{self.passed} passed, {len(self.failed)} failed", flush=True)
        return 1 if self.failed or not self.passed else 0

    @staticmethod
    def _say(word, name, expect, came, took, limit=240):
        print(f"{word} {name}: expected {expect}; came {one_line(came, limit)} ({took:.1f} s)", flush=True)


class Selection:
    """Which steps `--only` asks for: suites, steps, or `suite.step`."""

    def __init__(self, words):
        self.words = {word.strip().replace("_", "-") for word in words if word.strip()}
        self.used = set()

    def suite(self, suite):
        return not self.words or any([self._asks(suite, entry) for entry in steps_of(suite)])

    def pick(self, suite):
        """The steps to run: those asked for, what they need, and the set-up before them."""
        entries = steps_of(suite)
        by_name = {entry.name: entry for entry in entries}
        wanted = {e.name for e in entries if e.setup or not self.words or self._asks(suite, e)}
        todo = list(wanted)
        while todo:
            for need in by_name[todo.pop()].needs:
                if need not in wanted:
                    wanted.add(need)
                    todo.append(need)
        return [entry for entry in entries if entry.name in wanted]

    def unknown(self):
        """Words that named nothing, once every suite was asked."""
        return sorted(self.words - self.used)

    def _asks(self, suite, entry):
        names = {suite.NAME, entry.name, f"{suite.NAME}.{entry.name}"} & self.words
        self.used |= names
        return bool(names)


def run_suite(suite_class, lab, selection, report):
    """Runs the chosen steps of one suite, then stops everything the suite started."""
    suite = suite_class(lab)
    failed = set()
    try:
        for entry in selection.pick(suite_class):
            name = f"{suite_class.NAME}.{entry.name}"
            broken = [need for need in entry.needs if need in failed]
            if broken:
                failed.add(entry.name)
                report.fail(name, entry.expect, f"not tried, since {broken[0]} failed", 0.0)
                continue
            began = time.monotonic()
            took = lambda: time.monotonic() - began
            try:
                came = entry.method(suite)
                report.ok(name, entry.expect, came or "just that", took())
            except Skipped as why:
                report.skip(name, entry.expect, why)
            except Failed as failure:
                failed.add(entry.name)
                report.fail(name, entry.expect, failure, took())
                lab.show_logs()
            except Exception as error:  # a fault of the harness is a failed step, not a lost run
                failed.add(entry.name)
                report.fail(name, entry.expect, f"{type(error).__name__}: {error}", took())
                print(one_line(traceback.format_exc(limit=-3), 2000), flush=True)
                lab.show_logs()
    finally:
        suite.stop()
        lab.stop_all()
