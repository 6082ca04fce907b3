#!/usr/bin/env python3
"""Replays a proof/1 file against its access-list/1 program; shares nothing with the library.

usage: check_proof.py PROGRAM.json[.gz] PROOF.json     exit 0: the bound is proven; 1: it is not; prints why

A proof of an aligned arena ("granule") is one of a peak in counted sizes: rounded up to the granule, and a granule less
where that adds "threshold" bytes or more (docs/proofs.md). Where the bound is a cut, it is the least number of bytes alive while one operator runs, over all sets of operators that may have run before
it: a minimum cut, computed here by Dinic's algorithm on a network built from the accesses alone. Where it comes from a
search, the search's steps are redone one by one (order_replay.py).
"""
import collections
import gzip
import json
import math
import sys

import order_replay

KINDS = ["parameter", "buffer", "optimizer_state", "input", "constant", "donated", "intermediate", "output"]
UNLIMITED = 1 << 62


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file)


def column(document, table, name, default):
    names = document["columns"][table]
    if name not in names:
        return [default] * len(document[table])
    at = names.index(name)
    return [default if row[at] is None else row[at] for row in document[table]]


def fingerprint(sizes, kinds, reads, writes, scratch, device):
    words = [len(sizes)]
    for size, kind in zip(sizes, kinds):
        words += [size, KINDS.index(kind)]
    words.append(len(reads))
    for r, w, x, d in zip(reads, writes, scratch, device):
        words += [len(r), *r, len(w), *w, x, d]
    value = 0xCBF29CE484222325
    for word in words:
        for byte in word.to_bytes(8, "little"):
            value = ((value ^ byte) * 0x100000001B3) & (2**64 - 1)
    return "%016x" % value


def hazards(reads, writes):
    """For each operator those before it: read after write, write after write, write after read."""
    last_write, readers, before = {}, collections.defaultdict(set), []
    for i, (r, w) in enumerate(zip(reads, writes)):
        found = {last_write[s] for s in [*r, *w] if s in last_write}
        for s in w:
            found |= readers[s]
        found.discard(i)
        before.append(found)
        for s in r:
            readers[s].add(i)
        for s in w:
            last_write[s], readers[s] = i, set()
    return before


def cone(start, edges):
    inside, todo = {start}, [start]
    while todo:
        for other in edges[todo.pop()]:
            if other not in inside:
                inside.add(other)
                todo.append(other)
    return inside


def least_alive(op, sizes, kinds, reads, writes, scratch):
    before = hazards(reads, writes)
    after = [[] for _ in before]
    for i, those in enumerate(before):
        for p in those:
            after[p].append(i)
    n = len(before)
    source, sink = n, n + 1
    network = order_replay.Flow()
    early, late = cone(op, before), cone(op, after)
    for v in range(n):
        if v in late:
            network.arc(v, sink, UNLIMITED)
        elif v in early:
            network.arc(source, v, UNLIMITED)
        for p in before[v]:
            network.arc(v, p, UNLIMITED)
    users = collections.defaultdict(set)
    maker = {}
    for i, (r, w) in enumerate(zip(reads, writes)):
        for s in [*r, *w]:
            users[s].add(i)
        for s in w:
            maker.setdefault(s, i)
    fixed = scratch[op]
    for s, (size, kind) in enumerate(zip(sizes, kinds)):
        if KINDS.index(kind) < 5 or not users[s] or not size:
            continue
        first = None if kind == "donated" else maker[s]
        if first == op:
            fixed += size
            continue
        node = n + 2 + s
        network.arc(source if first is None else first, node, size)
        if kind == "output":
            network.arc(node, sink, UNLIMITED)
        for user in users[s]:
            network.arc(node, user, UNLIMITED)
    return fixed + network.run(source, sink)


def count_sizes(proof, sizes, kinds, reads, writes, scratch, own):
    """Counted sizes of buffers and workspaces; ends the program unless the claim's figures go together."""
    align, granule, threshold = proof["alignment"], proof["granule"], proof["threshold"]
    total = proof["counted_bytes"]
    if min(align, granule, total) < 1 or not 1 <= threshold <= granule or total % granule:
        sys.exit("the figures of the claim do not go together")
    if proof["arena_lower_bound_bytes"] > total - threshold + 1:
        sys.exit(f"{total} counted bytes prove no arena of {proof['arena_lower_bound_bytes']} bytes")
    used = {s for row in [*reads, *writes] for s in row}
    planned = {s for s in used if KINDS.index(kinds[s]) >= 5 and sizes[s]}
    if any(math.lcm(align, own[s]) % granule for s in planned) or (any(scratch) and align % granule):
        sys.exit("some offset may be no multiple of the granule")

    def counted(size):
        pad = -size % granule
        return size + pad - (granule if pad >= threshold else 0)

    return [counted(size) if s in planned else size for s, size in enumerate(sizes)], [counted(x) for x in scratch]


def check_pin(proof, sizes, kinds, reads, writes, offsets):
    """Ends the program unless the buffer named ends, by its pin, where no arena can be below the bound."""
    pinned, bound = proof.get("pinned"), proof["arena_lower_bound_bytes"]
    used = {s for row in [*reads, *writes] for s in row}
    if pinned not in used or KINDS.index(kinds[pinned]) < 5 or not sizes[pinned] or offsets[pinned] is None:
        sys.exit(f"nothing shows that no arena is below {bound} bytes")
    if offsets[pinned] + sizes[pinned] < bound:
        sys.exit(f"storage {pinned} ends at {offsets[pinned] + sizes[pinned]}, the proof says {bound}")


def replay_search(proof, bound, sizes, kinds, reads, writes, scratch):
    users, maker = collections.defaultdict(set), {}
    for i, (r, w) in enumerate(zip(reads, writes)):
        for s in [*r, *w]:
            users[s].add(i)
        for s in w:
            maker.setdefault(s, i)
    tensors = []
    for s, (size, kind) in enumerate(zip(sizes, kinds)):
        if KINDS.index(kind) >= 5 and users[s] and size:
            donated = kind == "donated"
            tensors.append((size, users[s], None if donated else maker[s], donated, kind == "output"))
    try:
        order_replay.Replay(hazards(reads, writes), tensors, scratch, bound, proof["left_out"]).check(proof["steps"])
    except order_replay.Refused as refused:
        print(f"the proof does not hold: {refused}")
        sys.exit(1)
    print(f"proven: no order keeps within {bound} bytes")


def main():
    program, proof = load(sys.argv[1]), load(sys.argv[2])
    sizes, kinds = column(program, "storages", "bytes", 0), column(program, "storages", "kind", "")
    reads, writes = column(program, "ops", "reads", ()), column(program, "ops", "writes", ())
    scratch, device = column(program, "ops", "workspace", 0), column(program, "ops", "device", 0)
    if proof.get("format") != "proof/1":
        sys.exit("this is no proof/1 file")
    if proof["fingerprint"] != fingerprint(sizes, kinds, reads, writes, scratch, device):
        sys.exit("the proof is of another program")
    claimed, what = proof.get("peak_lower_bound_bytes"), "bytes"
    if "granule" in proof:
        sizes, scratch = count_sizes(
            proof, sizes, kinds, reads, writes, scratch, column(program, "storages", "alignment", 1)
        )
        claimed, what = proof["counted_bytes"] - proof["granule"] + 1, "counted bytes"
    elif proof["arena_lower_bound_bytes"] > claimed and proof["replayable"]:
        check_pin(proof, sizes, kinds, reads, writes, column(program, "storages", "offset", None))
    if proof["replayable"] and claimed == 0:
        print("proven: nothing is claimed of the peak")
        return
    if proof["replayable"] and "steps" in proof:
        replay_search(proof, claimed - 1, sizes, kinds, reads, writes, scratch)
        return
    if not proof["replayable"]:
        print("the bound rests on a search without a log: not replayed")
        sys.exit(1)
    found = least_alive(proof["operator"], sizes, kinds, reads, writes, scratch)
    if found < claimed:
        print(f"operator {proof['operator']}: {found} bytes can be all that is alive, the proof says {claimed}")
        sys.exit(1)
    print(f"proven: in every order {found} {what} are alive while operator {proof['operator']} runs")


main()
