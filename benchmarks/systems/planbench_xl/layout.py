"""Where the parts of a graph of tools stand: in layers, with lines that pass beside the nodes.

An edge that spans several layers passes through places of its own, so that it runs beside data
types and not through them. Sweeps order each layer by the middle of its neighbours.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from benchmarks.systems.planbench_xl.parts import Edge, Node

WIDTH, HEIGHT, GAP, ROW, EDGE = 158.0, 50.0, 26.0, 140.0, 20.0
_NARROW = 28.0  # what a passing edge takes of a layer
_SWEEPS = 6
_Spot = tuple[str, ...]  # (data type) or (tool, input, layer) of a passing edge


def place(
    nodes: Sequence[Node], edges: Sequence[Edge], by_name: Mapping[str, Node]
) -> tuple[float, float]:
    """Give every node its place and every edge its lines; the size of the whole."""
    layers: dict[int, list[_Spot]] = defaultdict(list)
    for node in nodes:
        layers[node.layer].append((node.name,))
    chains: dict[tuple[str, str], list[_Spot]] = {}
    near: dict[_Spot, list[_Spot]] = defaultdict(list)
    for edge in edges:
        for name in edge.inputs:
            chain: list[_Spot] = [(name,)]
            for layer in range(by_name[name].layer + 1, by_name[edge.output].layer):
                spot = (edge.tool, name, str(layer))
                layers[layer].append(spot)
                chain.append(spot)
            chain.append((edge.output,))
            chains[edge.tool, name] = chain
            for above, below in zip(chain, chain[1:], strict=False):
                near[above].append(below)
                near[below].append(above)
    ordered = [layers[layer] for layer in sorted(layers)]
    _order(ordered, near)
    centres = _centres(ordered)
    width = max((x + _wide(spot) / 2 for spot, x in centres.items()), default=0) + EDGE
    for node in nodes:
        node.x, node.y = centres[node.name,], EDGE + HEIGHT / 2 + ROW * node.layer
    bows = _lines(edges, chains, centres, by_name)
    last = max((node.layer for node in nodes), default=0)
    height = 2 * EDGE + HEIGHT + ROW * last
    hangs = any(
        by_name[edge.output].layer == by_name[name].layer == last
        for edge in edges
        for name in edge.inputs
    )
    return round(width + bows, 1), round(height + 44 * hangs, 1)


def _wide(spot: _Spot) -> float:
    return WIDTH if len(spot) == 1 else _NARROW


def _order(layers: Sequence[list[_Spot]], near: Mapping[_Spot, Sequence[_Spot]]) -> None:
    """Sort each layer by the mean place of its neighbours in the one before, then after."""
    for sweep in range(_SWEEPS):
        order = layers if sweep % 2 == 0 else list(reversed(layers))
        for fixed, loose in zip(order, order[1:], strict=False):
            at = {spot: place / max(1, len(fixed) - 1) for place, spot in enumerate(fixed)}
            places = {spot: place / max(1, len(loose) - 1) for place, spot in enumerate(loose)}

            def middle(
                spot: _Spot,
                at: Mapping[_Spot, float] = at,
                places: Mapping[_Spot, float] = places,
            ) -> float:
                known = [at[other] for other in near.get(spot, ()) if other in at]
                return sum(known) / len(known) if known else places[spot]

            loose.sort(key=middle)


def _centres(layers: Sequence[Sequence[_Spot]]) -> dict[_Spot, float]:
    """Each layer side by side, in the middle of the widest."""
    sizes = [sum(map(_wide, layer)) + GAP * (len(layer) - 1) for layer in layers]
    widest = max(sizes, default=0)
    centres = {}
    for layer, size in zip(layers, sizes, strict=True):
        x = EDGE + (widest - size) / 2
        for spot in layer:
            centres[spot] = round(x + _wide(spot) / 2, 1)
            x += _wide(spot) + GAP
    return centres


def _lines(
    edges: Sequence[Edge],
    chains: Mapping[tuple[str, str], Sequence[_Spot]],
    centres: Mapping[_Spot, float],
    by_name: Mapping[str, Node],
) -> float:
    """Draw the edges; how much room those need that lead back, at the right."""
    twins: dict[tuple[str, str], int] = defaultdict(int)
    tagged: list[Edge] = []
    room = 0.0
    for edge in edges:
        end = by_name[edge.output]
        spots = []
        for name in edge.inputs:
            start = by_name[name]
            shift = 22.0 * twins[name, edge.output]
            twins[name, edge.output] += 1
            if end.layer > start.layer:
                xs = [centres[spot] for spot in chains[edge.tool, name]]
                spots += _down(edge, start, end, xs, shift)
            elif end.layer == start.layer:
                spots += _beneath(edge, start, end, shift)
            elif end.layer == start.layer - 1:
                spots += _up(edge, start, end, shift)
            else:
                room = max(room, 70.0 + shift)
                spots += _back(edge, start, end, max(centres.values()) + 60 + WIDTH / 2 + shift)
        edge.x, edge.y = min(spots, key=lambda spot: _covered(edge, spot, tagged))
        tagged.append(edge)
    return room


_Point = tuple[float, float]


def _covered(edge: Edge, spot: _Point, tagged: Sequence[Edge]) -> int:
    """How many labels the label of an edge would touch."""
    return sum(
        abs(spot[0] - other.x) < edge.half + other.half + 3 and abs(spot[1] - other.y) < 20
        for other in tagged
    )


def _curve(a: _Point, b: _Point, c: _Point, d: _Point, t: float) -> _Point:
    u = 1 - t
    parts = [(u**3, a), (3 * u * u * t, b), (3 * u * t * t, c), (t**3, d)]
    return round(sum(w * p[0] for w, p in parts), 1), round(sum(w * p[1] for w, p in parts), 1)


def _down(edge: Edge, start: Node, end: Node, xs: Sequence[float], shift: float) -> list[_Point]:
    """From the lower side of a node to the upper side of one below; where a label may stand."""
    spots, text = [], ""
    at: _Point = (start.x + shift, start.y + HEIGHT / 2)
    for number, x in enumerate(xs[1:], 1):
        last = number == len(xs) - 1
        y = start.y + ROW * number - HEIGHT / 2
        to: _Point = (x + shift, y - 7 if last else y)
        half = (to[1] - at[1]) / 2
        b, c = (at[0], at[1] + half), (to[0], to[1] - half)
        text += "" if text else f"M{at[0]:g} {at[1]:g}"
        text += f"C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {to[0]:g} {to[1]:g}"
        spots += [_curve(at, b, c, to, t) for t in (0.5, 0.2, 0.8, 0.35, 0.65)]
        at = to
        if not last:  # straight past the nodes of this layer
            at = (to[0], to[1] + HEIGHT)
            text += f"L{at[0]:g} {at[1]:g}"
    edge.lines.append(text)
    x, y = at
    edge.heads.append(f"{x - 4.5:g},{y:g} {x + 4.5:g},{y:g} {x:g},{y + 7:g}")
    return spots


def _beneath(edge: Edge, start: Node, end: Node, shift: float) -> list[_Point]:
    """Between two nodes of a layer, in a bow beneath both."""
    side = 30 if end.x > start.x else -30
    y = start.y + HEIGHT / 2
    a, d = (start.x + side + shift, y), (end.x - side + shift, y + 7)
    b, c = (a[0], y + 46), (d[0], y + 46)
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0] - 4.5:g},{d[1]:g} {d[0] + 4.5:g},{d[1]:g} {d[0]:g},{y:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.3, 0.7, 0.15, 0.85)]


def _up(edge: Edge, start: Node, end: Node, shift: float) -> list[_Point]:
    """Back to the layer above, between the two."""
    a = (start.x + 40 + shift, start.y - HEIGHT / 2)
    d = (end.x + 40 + shift, end.y + HEIGHT / 2 + 7)
    half = (a[1] - d[1]) / 2
    b, c = (a[0], a[1] - half), (d[0], d[1] + half)
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0] - 4.5:g},{d[1]:g} {d[0] + 4.5:g},{d[1]:g} {d[0]:g},{d[1] - 7:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.2, 0.8, 0.35, 0.65)]


def _back(edge: Edge, start: Node, end: Node, x: float) -> list[_Point]:
    """Back to an earlier layer, round the right side."""
    a = (start.x + WIDTH / 2, start.y)
    d = (end.x + WIDTH / 2 + 7, end.y)
    b, c = (x, a[1]), (x, d[1])
    edge.lines.append(f"M{a[0]:g} {a[1]:g}C{b[0]:g} {b[1]:g} {c[0]:g} {c[1]:g} {d[0]:g} {d[1]:g}")
    edge.heads.append(f"{d[0]:g},{d[1] - 4.5:g} {d[0]:g},{d[1] + 4.5:g} {d[0] - 7:g},{d[1]:g}")
    return [_curve(a, b, c, d, t) for t in (0.5, 0.3, 0.7, 0.15, 0.85)]
