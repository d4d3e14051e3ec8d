"""Segments of the metadata log as bytes: what every member of a quorum must hold the same."""

import struct

from .steps import check


def batches(log):
    """The whole record batches of a segment, as bytes."""
    data = log.read_bytes()
    found = []
    at = 0
    while at + 12 <= len(data):
        end = at + 12 + struct.unpack_from(">i", data, at + 8)[0]
        if end <= at + 12 or end > len(data):
            break
        found.append(data[at:end])
        at = end
    return found


def check_same_batches(logs, count, at_least=10):
    """Fails unless so many logs begin at offset 0 and agree as far as the shortest goes; the batches they share."""
    firsts = [batches(log) for log in logs if int(log.stem) == 0]
    check(len(firsts) == count, f"{len(firsts)} logs that begin at offset 0: {logs}")
    shared = min(len(found) for found in firsts)
    check(shared > at_least, f"only {shared} batches")
    for n in range(shared):
        check(len({found[n] for found in firsts}) == 1, f"batch {n} differs: {[f[n][:61].hex() for f in firsts]}")
    return firsts[0][:shared]
