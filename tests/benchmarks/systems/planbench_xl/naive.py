"""Second implementations, slow and plain, for the tests to compare with."""

import hashlib
import math
import random
import re
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations

TAGS = ("retrieve_tools", "tool_call", "final_answer")


def pairs(text):
    """Every complete pair of tags with its content, by regular expressions."""
    return [
        (tag, content.strip())
        for tag in TAGS
        for content in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.IGNORECASE | re.DOTALL)
    ]


def similarity(one, two):
    """Cosine of hashed features, in whole numbers up to the root."""
    a, b = Counter(map(_bucket, _features(one))), Counter(map(_bucket, _features(two)))
    squares = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    if not squares:
        return 0.0
    return sum(n * b[key] for key, n in a.items()) / math.sqrt(squares)


def _features(text):
    plain = text.strip().lower().replace("_", " ")
    tokens = re.findall("[a-z0-9]+", plain)
    found = tokens + [f"{tokens[n]}__{tokens[n + 1]}" for n in range(len(tokens) - 1)]
    if not plain.strip():
        return []
    padded = "  " + re.sub(r"\s+", " ", plain).strip() + "  "
    return found + [f"char::{padded[n : n + 3]}" for n in range(len(padded) - 2)]


def _bucket(feature):
    return int(hashlib.blake2b(feature.encode(), digest_size=8).hexdigest(), 16) % 512


def best_datatype(phrase, datatypes):
    """The most similar data type by going through all pairs of forms; the first of equals."""
    forms = {
        d.name: [d.name, d.name.replace("_", " "), *d.aliases, d.description] for d in datatypes
    }
    best, score = "", -1.0
    for name, own in forms.items():
        found = max(similarity(p, f) for p in forms.get(phrase, [phrase]) for f in own)
        if found > score + 1e-12:
            best, score = name, found
    return best


def closure(given, tools):
    """Everything that can be reached, by going round until nothing changes."""
    reached = set(given)
    while True:
        more = {tool.output for tool in tools if set(tool.inputs) <= reached} - reached
        if not more:
            return reached
        reached |= more


def look_up(rows, tool, arguments):
    """The different values that a scan of all rows finds."""
    found = []
    for row in rows:
        fits = all(str(row[dt]) == str(arguments[name]) for name, dt in tool.arguments.items())
        if fits and row[tool.output] is not None and str(row[tool.output]) not in found:
            found.append(str(row[tool.output]))
    return found


def plan(task_id, paths, rules):
    """(tools, noise, blocked paths) of a task's plan, with sets and from first principles."""
    rng = random.Random(rules.seed + int(hashlib.sha256(task_id.encode()).hexdigest()[:16], 16))
    tools = sorted(set(chain.from_iterable(paths)))
    sizes = range(min(rules.max_tools, len(tools)) + 1)
    sets = list(chain.from_iterable(combinations(tools, n) for n in sizes))[: rules.max_candidates]
    total = len(paths)

    def blocked(chosen):
        return {n for n, path in enumerate(paths) if set(path) & set(chosen)}

    if rules.selection == "exact_blocked_paths":
        goal = total - min(rules.block_paths, total)
        tolerance = 0
    elif rules.selection == "target_remaining_paths":
        goal = max(rules.min_remaining, min(total, rules.remaining_paths))
        tolerance = rules.tolerance
    else:
        share = round(total * rules.remaining_ratio)
        goal = max(rules.min_remaining, min(total, share))
        tolerance = rules.tolerance
    gap = {chosen: abs(total - len(blocked(chosen)) - goal) for chosen in sets}
    pool = [
        chosen
        for chosen in sets
        if total - len(blocked(chosen)) >= rules.min_remaining and gap[chosen] <= tolerance
    ]
    if not pool:
        return None
    nearest = min(gap[chosen] for chosen in pool)
    pool = [chosen for chosen in pool if gap[chosen] == nearest]

    def mean(chosen):
        left = [len(set(path)) for n, path in enumerate(paths) if n not in blocked(chosen)]
        return Fraction(sum(left), len(left))

    if rules.length_objective != "none":
        means = sorted({mean(chosen) for chosen in pool})
        wanted = {"maximize": means[-1], "minimize": means[0]}.get(rules.length_objective)
        if wanted is None:
            wanted = means[rng.randrange(len(means))]
        pool = [chosen for chosen in pool if mean(chosen) == wanted]
    if rules.tools_objective == "minimize":
        fewest = min(map(len, pool))
        pool = [chosen for chosen in pool if len(chosen) == fewest]
    chosen = pool[rng.randrange(len(pool))]
    kinds = ("explicit failures", "implicit failures", "semantic misleading")
    noise = []
    for _ in chosen:
        if rules.noise_mode == "random":
            noise.append((kinds[rng.randrange(3)],))
        elif rules.noise_mode == "random_multi":
            noise.append(tuple(rng.sample(kinds, rules.noise_count)))
        elif rules.noise_mode == "fixed":
            noise.append((rules.noise_types[0],))
        else:
            noise.append(tuple(dict.fromkeys(rules.noise_types)))
    return chosen, tuple(noise), tuple(sorted(blocked(chosen)))
