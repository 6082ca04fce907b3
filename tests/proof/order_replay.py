"""Replays the steps of a proof that no order keeps within a bound; shares nothing with the library.

docs/proofs.md says what each step claims and why it holds. Sets of operators are Python sets; a view is the program
forwards (what has run) or backwards (what is still to run, once time is turned round).
"""
import collections

NONE = None
UNLIMITED = 1 << 62


class Refused(Exception):
    pass


def require(holds, reason):
    if not holds:
        raise Refused(reason)


class Flow:
    """Dinic's algorithm on nodes that are named as they come."""

    def __init__(self):
        self.out = collections.defaultdict(list)
        self.to, self.left = [], []

    def arc(self, a, b, capacity):
        if a == b:
            return
        self.out[a].append(len(self.to))
        self.to.append(b)
        self.left.append(capacity)
        self.out[b].append(len(self.to))
        self.to.append(a)
        self.left.append(0)

    def run(self, source, sink):
        total = 0
        while True:
            level, queue = {source: 0}, collections.deque([source])
            while queue:
                node = queue.popleft()
                for a in self.out[node]:
                    if self.left[a] and self.to[a] not in level:
                        level[self.to[a]] = level[node] + 1
                        queue.append(self.to[a])
            if sink not in level:
                return total
            at, path, node = collections.defaultdict(int), [], source
            while True:
                if node == sink:
                    sent = min(self.left[a] for a in path)
                    for a in path:
                        self.left[a] -= sent
                        self.left[a ^ 1] += sent
                    total += sent
                    path, node = [], source
                arcs = self.out[node]
                while at[node] < len(arcs):
                    a = arcs[at[node]]
                    if self.left[a] and level.get(self.to[a]) == level[node] + 1:
                        break
                    at[node] += 1
                if at[node] < len(arcs):
                    path.append(arcs[at[node]])
                    node = self.to[path[-1]]
                elif path:
                    level.pop(node, None)
                    node = self.to[path.pop() ^ 1]
                else:
                    break


class Facts:
    """Dependencies and buffers: needs[True][op] runs before op, needs[False][op] after it."""

    def __init__(self, before, tensors, workspace):
        n = len(before)
        self.needs = {True: [set(b) for b in before], False: [set() for _ in range(n)]}
        for i, b in enumerate(before):
            for p in b:
                self.needs[False][p].add(i)
        self.workspace = workspace
        self.idle = set()
        self.tensors = []  # (bytes, users, starts alive, stays alive)
        self.of = [[] for _ in range(n)]
        for size, users, maker, starts, stays in tensors:
            # one that a later user waits for is never the last; an output's users never matter
            kept = {u for u in users if u == maker or not (stays or self.needs[False][u] & users)}
            for u in kept:
                self.of[u].append(len(self.tensors))
            self.tensors.append((size, kept, starts, stays))
        self.lazy, self.sinks = set(), set()

    def copy(self):
        other = object.__new__(Facts)
        other.__dict__ = dict(self.__dict__)
        other.needs = {way: [set(x) for x in rows] for way, rows in self.needs.items()}
        other.lazy, other.sinks = set(self.lazy), set(self.sinks)
        return other

    def cone(self, op, forwards):
        inside, todo = {op}, [op]
        while todo:
            for other in self.needs[forwards][todo.pop()]:
                if other not in inside:
                    inside.add(other)
                    todo.append(other)
        return inside

    def near(self, op, forwards):
        """Neighbours, directly or through operators that were left out."""
        found, seen, todo = set(), set(), list(self.needs[forwards][op])
        while todo:
            other = todo.pop()
            if other in seen:
                continue
            seen.add(other)
            if other in self.idle:
                todo += self.needs[forwards][other]
            else:
                found.add(other)
        return found

    def add(self, a, b):
        """a before b; True if that closes a cycle."""
        if b in self.cone(a, True):
            return True
        self.needs[True][b].add(a)
        self.needs[False][a].add(b)
        return False

    def least(self, forwards, least, most):
        """The least bytes alive after any set between two."""
        flow, fixed = Flow(), 0
        for op in most - least:
            for other in self.needs[forwards][op]:
                if other not in most:
                    flow.arc(op, "sink", UNLIMITED)
                elif other not in least:
                    flow.arc(op, other, UNLIMITED)
        for t, (size, users, starts, stays) in enumerate(self.tensors):
            if not forwards:
                starts, stays = stays, starts
            born = starts or not users.isdisjoint(least)
            survives = stays or not users <= most
            open_users = (users & most) - least
            if born and survives:
                fixed += size
            if (born and survives) or not open_users:
                continue
            first, last = "source" if born else ("born", t), "sink" if survives else ("dead", t)
            flow.arc(first, last, size)
            for u in open_users:
                if not born:
                    flow.arc(u, first, UNLIMITED)
                if not survives:
                    flow.arc(last, u, UNLIMITED)
        return fixed + flow.run("source", "sink")


class View:
    """A set that holds what its members need; operators that were left out follow by themselves."""

    def __init__(self, facts, forwards, members=()):
        self.facts, self.forwards = facts, forwards
        self.needs, self.waits = facts.needs[forwards], facts.needs[not forwards]
        self.inside, self.record = set(), []
        self.lacking = [len(x) for x in self.needs]
        self.used = [0] * len(facts.tensors)
        self.live = sum(size for size, _, starts, stays in facts.tensors if (starts if forwards else stays))
        for op in sorted(facts.idle):
            if not self.lacking[op] and op not in self.inside:
                self.run(op)
        todo = [op for op in members if self.can_run(op)]
        while todo:
            op = todo.pop()
            if self.can_run(op):
                mark = len(self.record)
                self.run(op)
                for done in self.record[mark:]:
                    todo += [x for x in self.waits[done] if x in members and self.can_run(x)]
        require(all(op in self.inside or op in facts.idle for op in members), "a set lacks what its members need")

    def can_run(self, op):
        return not self.lacking[op] and op not in self.inside and op not in self.facts.idle

    def ends(self, tensor):
        size, users, starts, stays = tensor
        return (size, len(users), starts, stays) if self.forwards else (size, len(users), stays, starts)

    def born(self, op):
        rows = [(t, self.ends(self.facts.tensors[t])) for t in self.facts.of[op]]
        return sum(size for t, (size, _, starts, _) in rows if not self.used[t] and not starts)

    def net(self, op):
        rows = [(t, self.ends(self.facts.tensors[t])) for t in self.facts.of[op]]
        return self.born(op) - sum(size for t, (size, n, _, stays) in rows if self.used[t] + 1 == n and not stays)

    def hill(self, op):
        return self.live + self.born(op) + self.facts.workspace[op]

    def run(self, first):
        todo = [first]
        while todo:
            op = todo.pop()
            self.inside.add(op)
            self.record.append(op)
            for t in self.facts.of[op]:
                size, n, starts, stays = self.ends(self.facts.tensors[t])
                self.live += size if not self.used[t] and not starts else 0
                self.used[t] += 1
                self.live -= size if self.used[t] == n and not stays else 0
            for other in self.waits[op]:
                self.lacking[other] -= 1
                if not self.lacking[other] and other in self.facts.idle:
                    todo.append(other)

    def take_back(self, length):
        while len(self.record) > length:
            op = self.record.pop()
            self.inside.discard(op)
            for other in self.waits[op]:
                self.lacking[other] += 1
            for t in self.facts.of[op]:
                size, n, starts, stays = self.ends(self.facts.tensors[t])
                self.live += size if self.used[t] == n and not stays else 0
                self.used[t] -= 1
                self.live -= size if not self.used[t] and not starts else 0


Place = collections.namedtuple("Place", "facts front back moved")
Ending = collections.namedtuple("Ending", "at_front inside other explored")


class Replay:
    def __init__(self, before, tensors, workspace, bound, left_out):
        self.facts, self.bound, self.n = Facts(before, tensors, workspace), bound, len(before)
        self.rows = tensors
        for op in left_out:
            require(0 <= op < self.n, "an operator that does not exist is left out")
            require(not self.facts.of[op] and not workspace[op], f"operator {op} touches bytes and is left out")
            self.facts.idle.add(op)

    def check(self, steps):
        try:
            if steps and steps[0][0] == "only":
                steps = self.keep(steps[0][1], steps[1:])
            self.follow(Place(self.facts.copy(), set(), set(), False), steps)
        except (IndexError, TypeError, ValueError, RecursionError) as broken:
            raise Refused(f"a step is ill-formed: {broken}") from None

    def keep(self, names, steps):
        """Forgets every operator that is not named; the steps with the numbers of what is left."""
        kept = [self.operand(op) for op in names]
        number = {op: k for k, op in enumerate(kept)}
        require(len(number) == len(kept), "an operator is kept twice")
        before = [{number[p] for p in self.facts.near(op, True) if p in number} for op in kept]
        tensors = []
        for size, users, maker, starts, stays in self.rows:
            if starts or maker in number:
                left = {number[u] for u in users if u in number}
                tensors += [(size, left, number.get(maker), starts, stays)] if left else []
        self.facts, self.n = Facts(before, tensors, [self.facts.workspace[op] for op in kept]), len(kept)

        def rename(operators):
            require(all(op is None or op in number for op in operators), "a step names an operator that was forgotten")
            return [NONE if op is None else number[op] for op in operators]

        def renamed(rows):
            return [
                (rule, rename(operators), [rename(state) for state in states], [renamed(case) for case in cases])
                for rule, operators, states, cases in rows
            ]

        return renamed(steps)

    def operand(self, op):
        require(isinstance(op, int) and 0 <= op < self.n and op not in self.facts.idle, f"operator {op} is named")
        return op

    def follow(self, at, steps):
        """Follows steps to a refutation; how it ended, where that is a search without an end."""
        for rule, operators, states, cases in steps:
            facts = at.facts
            if rule in ("lazy", "sink"):
                require(not at.moved, "a lazy operator or a sink after a commit")
                op, v = map(self.operand, operators)
                lazy = rule == "lazy"
                mine, others = (facts.lazy, facts.sinks) if lazy else (facts.sinks, facts.lazy)
                beyond, beyond_v = facts.cone(op, not lazy) - {op}, facts.cone(v, not lazy) - {v}
                neighbours = facts.near(op, not lazy)
                require(not facts.workspace[op] and neighbours, f"operator {op} is no {rule}")
                for t in facts.of[op]:
                    _, users, starts, stays = facts.tensors[t]
                    require((stays if lazy else starts) or users & beyond, f"{rule} operator {op} frees or allocates")
                require(neighbours <= beyond_v and not neighbours & others, f"{rule} operator {op} may not move")
                mine.add(op)
                require(not (facts.add(v, op) if lazy else facts.add(op, v)), f"{rule} operator {op} may not move")
            elif rule == "within":
                require(not at.moved, "a segment after a commit")
                ends = [set(), set()]
                for k, v in enumerate(operators):
                    if v is None:
                        continue
                    above, below = facts.cone(self.operand(v), True), facts.cone(v, False)
                    require(set(range(self.n)) <= above | below | facts.idle, f"operator {v} ends no segment")
                    ends[k] = View(facts, k == 0, above if k == 0 else below).inside
                at = Place(facts, ends[0], ends[1], True)
            elif rule in ("front", "back"):
                forwards = rule == "front"
                own, other = (at.front, at.back) if forwards else (at.back, at.front)
                view = View(facts, forwards, own)
                start = set(view.inside)
                for op in operators if forwards else reversed(operators):
                    self.step(view, other, self.operand(op))
                require(view.live <= facts.least(forwards, start, view.inside), "a commit does not end lowest")
                at = Place(facts, view.inside, at.back, True) if forwards else Place(facts, at.front, view.inside, True)
            elif rule == "before":
                a, b, v = map(self.operand, operators)
                require(v in (a, b) and a != b, f"{a} before {b} is shown at no operator of the two")
                without = facts.cone(a, False) if v == b else set()
                with_them = facts.cone(b, True) if v == a else set()
                require(self.cut(at, v, with_them, without) > self.bound, f"{a} before {b} does not follow")
                at = at._replace(moved=True)
                if facts.add(a, b):
                    return None
            elif rule == "cut":
                require(self.cut(at, self.operand(operators[0])) > self.bound, f"the cut at {operators[0]} is too low")
                return None
            elif rule in ("front_ends", "back_ends"):
                return self.ends(at, states, rule == "front_ends")
            elif rule == "either":
                a, b = map(self.operand, operators)
                require(len(cases) == 2 and a != b, "a choice without two cases")
                for (first, second), inner in zip(((a, b), (b, a)), cases):
                    place = Place(facts.copy(), at.front, at.back, True)
                    if not place.facts.add(first, second):
                        self.follow(place, inner)
                return None
            elif rule in ("split_after", "split_before"):
                self.split(at, self.operand(operators[0]), set(states[0]), cases, rule == "split_after")
                return None
            else:
                raise Refused(f"a step {rule} out of place")
        raise Refused("the steps end without a refutation")

    def step(self, view, other, op):
        require(view.can_run(op) and op not in other, f"operator {op} runs before it can")
        require(view.hill(op) <= self.bound, f"operator {op} runs above the bound")
        view.run(op)

    def room(self, at, v):
        """The sets from which v can run from here: the least and the greatest."""
        facts = at.facts
        require(v not in at.front and v not in at.back, f"operator {v} was committed")
        least = (facts.cone(v, True) - {v}) | at.front
        return least, set(range(self.n)) - facts.cone(v, False) - at.back

    def made_at(self, at, v):
        below, total = at.facts.cone(v, False), at.facts.workspace[v]
        for t in at.facts.of[v]:
            size, users, starts, _ = at.facts.tensors[t]
            total += size if not starts and users <= below else 0
        return total

    def cut(self, at, v, with_them=frozenset(), without=frozenset()):
        least, most = self.room(at, v)
        least, most = least | with_them, most - without
        if not least - at.facts.idle <= most:
            return UNLIMITED
        return self.made_at(at, v) + at.facts.least(True, least, most)

    def ends(self, at, states, forwards):
        own, other = (at.front, at.back) if forwards else (at.back, at.front)
        view = View(at.facts, forwards, own)
        entries, explored, shown, frames = iter(states), set(), set(), []
        everything = set(range(self.n)) - at.facts.idle - other

        def note():
            explored.update(op for op in everything if view.can_run(op))

        def enter():
            while True:
                key = frozenset(view.inside)
                if key in shown:
                    return
                require(not everything <= view.inside, "everything runs within the bound")
                commit = next(entries, NONE)
                require(commit is not NONE, "a search without an end lacks states")
                note()
                fits = [op for op in everything if view.can_run(op) and view.hill(op) <= self.bound]
                choices = [] if commit else sorted(((view.net(op), view.hill(op), op) for op in fits), reverse=True)
                frames.append((key, len(view.record), choices))
                if not commit:
                    return
                start = set(view.inside)
                for op in commit:
                    self.step(view, other, self.operand(op))
                    note()
                require(view.live <= at.facts.least(forwards, start, view.inside), "a commit does not end lowest")

        enter()
        while frames:
            key, length, choices = frames[-1]
            view.take_back(length)
            if not choices:
                shown.add(key)
                frames.pop()
                continue
            view.run(choices.pop()[2])
            enter()
        return Ending(forwards, own, other, explored)

    def components(self, facts, free):
        result, seen = [], set()
        for seed in sorted(free):
            if seed in seen:
                continue
            inside, todo = {seed}, [seed]
            while todo:
                op = todo.pop()
                near = facts.near(op, True) | facts.near(op, False)
                for t in facts.of[op]:
                    near |= facts.tensors[t][1]
                for other in (near & free) - inside:
                    inside.add(other)
                    todo.append(other)
            # operators that were left out may hang several free ones together
            seen |= inside
            result.append(inside)
        return result

    def split(self, at, v, base, cases, forwards):
        facts = at.facts
        least, most = self.room(at, v)
        base = View(facts, True, base | least).inside
        require(base - facts.idle <= most and v not in base, f"operator {v} cannot run at the set of its split")
        lowest = facts.least(True, least, most)
        require(View(facts, True, base).live <= lowest, f"the set of the split at {v} is not lowest")
        at_v = self.made_at(at, v)
        between = most - least - facts.idle - {v}
        free = between - base if forwards else between & base
        tight = not (between & base if forwards else between - base)
        parts = self.components(facts, free)
        named = {}
        for steps in cases:
            require(steps and steps[0][0] == "start", "a case without a start")
            named.setdefault(frozenset(steps[0][1]), steps)
        todo = [(frozenset(), frozenset())]
        while todo:
            early, decided = todo.pop()
            before = View(facts, True, base | early if forwards else base - early - facts.idle)
            if before.live + at_v > self.bound:
                continue
            require(early in named, f"a start of the split at {v} is missing")
            steps = named[early]
            other_side = len(steps) > 1 and steps[1][0] == "other_side"
            if forwards != other_side:
                place = Place(facts.copy(), View(facts, True, before.inside | {v}).inside, at.back, True)
            else:
                rest = set(range(self.n)) - before.inside - facts.idle
                place = Place(facts.copy(), at.front, View(facts, False, rest).inside, True)
            end = self.follow(place, steps[2 if other_side else 1:])
            if other_side:
                require(tight, f"an unreached set of the split at {v} says nothing of others")
                continue
            require(end is not None and end.at_front == forwards, f"a start of the split at {v} ends wrongly")
            tried = []
            for op in steps[0][2][0] if steps[0][2] else []:
                tried += [c for c, part in enumerate(parts) if op in part and c not in tried]
            self.check_parts(facts, free, parts, end, decided | set(tried))
            for c in tried:
                if c in decided:
                    continue
                decided = decided | {c}
                for part in self.ideals(facts, parts[c], forwards):
                    todo.append((early | part, decided))

    def ideals(self, facts, part, forwards):
        """All subsets but the empty one that hold what their members need of the part."""
        needed = {op: (facts.cone(op, forwards) & part) - {op} for op in part}
        found = [frozenset()]
        for op in sorted(part, key=lambda o: (len(needed[o]), o)):
            found += [one | {op} for one in found if needed[op] <= one]
            require(len(found) <= 10000, "a split with too many parts")
        return found[1:]

    def check_parts(self, facts, free, parts, end, settled):
        """Every part that could still matter is settled."""
        require(not free & end.other, "the other end took a free operator")
        loose, touched, only_free = free - end.inside, set(), True
        for op in set(range(self.n)) - free - end.inside - facts.idle:
            only_free = only_free and op in end.other
            needed = facts.near(op, end.at_front)
            if op in end.explored:
                near = needed | facts.near(op, not end.at_front)
                for t in facts.of[op]:
                    near |= facts.tensors[t][1]
                touched |= near & loose
            elif needed <= end.inside | free | end.explored:
                touched |= needed & loose
        if only_free:
            touched = loose
        view = View(facts, end.at_front, end.inside)
        for c, part in enumerate(parts):
            if c in settled:
                continue
            require(not part & touched, "a part of a split is not tried")
            most = View(facts, end.at_front, view.inside | part).inside
            require(facts.least(end.at_front, view.inside, most) >= view.live, "a part that lowers is not tried")
