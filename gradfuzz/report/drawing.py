"""A graph drawn as SVG: leaves at the top, each call below all that it reads."""

from html import escape

from gradfuzz.graph import Call, Graph, Node, format_array

BOX, GAP, ROW = 150, 18, 74
HEIGHT = 34
LETTERS = 21


def draw(graph: Graph) -> str:
    """Return the SVG of a graph."""
    depths = _depths(graph)
    rows: dict[int, list[int]] = {}
    for node, depth in enumerate(depths):
        rows.setdefault(depth, []).append(node)
    widest = max(len(row) for row in rows.values())
    width, height = widest * (BOX + GAP) + GAP, (max(depths) + 1) * ROW
    places = {
        node: (_left(width, len(row), position), depth * ROW + 10)
        for depth, row in rows.items()
        for position, node in enumerate(row)
    }
    edges = [_edge(places[ref.node], places[i]) for i, call in graph.calls for ref in call.inputs]
    ends = {ref.node for ref in graph.outputs}
    boxes = [_box(i, n, places[i], is_output=i in ends) for i, n in enumerate(graph.nodes)]
    body = "".join([*edges, *boxes])
    return (f'<svg class="graph" viewBox="0 0 {width} {height}" style="max-width:{width}px" '
            f'role="img">{body}</svg>')  # fmt: skip


def _depths(graph: Graph) -> list[int]:
    depths: list[int] = []
    for node in graph.nodes:
        reads = node.inputs if isinstance(node, Call) else []
        depths.append(1 + max((depths[ref.node] for ref in reads), default=-1))
    return depths


def _left(width: float, count: int, position: int) -> float:
    start = (width - count * (BOX + GAP) + GAP) / 2
    return start + position * (BOX + GAP)


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1 = start[0] + BOX / 2, start[1] + HEIGHT
    x2, y2 = end[0] + BOX / 2, end[1]
    middle = (y1 + y2) / 2
    return f'<path class="edge" d="M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}"/>'


def _box(index: int, node: Node, place: tuple[float, float], *, is_output: bool) -> str:
    label = node.op if isinstance(node, Call) else format_array(node.value)
    kind = ("call" if isinstance(node, Call) else "leaf") + (" output" if is_output else "")
    short = label if len(label) <= LETTERS else f"{label[: LETTERS - 1]}…"
    x, y = place
    return (f'<g class="{kind}"><title>%{index} {escape(label)}</title>'
            f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="6"/>'
            f'<text x="{x + BOX / 2}" y="{y + 21}" text-anchor="middle">{escape(short)}</text>'
            "</g>")  # fmt: skip
