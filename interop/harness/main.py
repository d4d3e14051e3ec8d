"""The command: which suites and steps, whose controllers, which releases of Kafka."""

import argparse
import os
import pathlib
import shutil
import tempfile
import time

from suites import SUITES

from .clients import Clients
from .clusters import EXAMPLE, Lab
from .procs import kill_all_at_exit
from .steps import Failed, Report, Selection, run_suite, steps_of
from .stock import Kafka

DEFAULT_VERSION = "4.2.0"


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="interop/run",
        description="Runs stock Kafka and stock clients against quorate, or against Kafka's own controllers.",
    )
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=f"releases of stock Kafka ({DEFAULT_VERSION})")
    parser.add_argument("--controllers", choices=("quorate", "jvm"), default="quorate")
    parser.add_argument("--cluster", type=pathlib.Path, default=EXAMPLE, metavar="PATH", help="the built example to run")
    parser.add_argument("--only", action="append", default=[], metavar="STEP,…", help="suites, steps or suite.step")
    parser.add_argument("--list", action="store_true", help="print suites and steps, and run none")
    parser.add_argument("--keep", action="store_true", help="keep the servers' files and logs")
    return parser.parse_args(argv)


def main(argv):
    options = parse(argv)
    if options.list:
        for suite in SUITES:
            for entry in steps_of(suite):
                print(f"{suite.NAME}.{entry.name}: {entry.expect}")
        return 0
    kill_all_at_exit()
    selection = Selection(",".join(options.only).split(","))
    chosen = [suite for suite in SUITES if selection.suite(suite)]
    if unknown := selection.unknown():
        print(f"no such suite or step: {', '.join(unknown)}; --list names them")
        return 2
    report = Report()
    clients = Clients()
    for version in options.versions or [DEFAULT_VERSION]:
        for suite in chosen:
            run_one(suite, version, options, clients, selection, report)
    return report.close()


def run_one(suite, version, options, clients, selection, report):
    """One suite against one release, with a directory of its own."""
    began = time.monotonic()
    workspace = pathlib.Path(tempfile.mkdtemp(prefix=f"interop-{suite.NAME}-"))
    print(f"== {suite.NAME}: {suite.__doc__.splitlines()[0]} Kafka {version}, {options.controllers} controllers", flush=True)
    try:
        lab = Lab(Kafka(version).fetch(), options, clients.install(), workspace)
    except Failed as failure:
        report.fail(f"{suite.NAME}.fetch", "stock Kafka and its clients", failure, time.monotonic() - began)
        return
    failures = len(report.failed)
    run_suite(suite, lab, selection, report)
    print(f"== {suite.NAME}: {time.monotonic() - began:.0f} s", flush=True)
    if options.keep or (len(report.failed) > failures and "CI" not in os.environ):
        print(f"   files and logs: {workspace}", flush=True)
    else:
        shutil.rmtree(workspace, ignore_errors=True)
