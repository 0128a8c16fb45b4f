"""Weighted quantile summaries as their formulas read: points are dictionaries, sums are loops."""


def exact(values, weights):
    """Return [(value, low, high, weight), ...] of the rows."""
    distinct = sorted(set(values))
    rows = list(zip(values, weights, strict=True))
    return [
        (
            x,
            sum(w for v, w in rows if v < x),
            sum(w for v, w in rows if v <= x),
            sum(w for v, w in rows if v == x),
        )
        for x in distinct
    ]


def extended(summary, y):
    """Return (low, high, weight) of any y."""
    for x, low, high, weight in summary:
        if x == y:
            return low, high, weight
    below = [point for point in summary if point[0] < y]
    above = [point for point in summary if point[0] > y]
    if not below:
        return 0.0, 0.0, 0.0
    low = below[-1][1] + below[-1][3]
    if not above:
        return low, summary[-1][2], 0.0
    return low, above[0][2] - above[0][3], 0.0


def merged(a, b):
    out = []
    for x in sorted({p[0] for p in a} | {p[0] for p in b}):
        one, two = extended(a, x), extended(b, x)
        out.append((x, *(s + t for s, t in zip(one, two, strict=True))))
    return out


def chosen(summary, d):
    """g(Q, d): the point whose rank is near d."""
    middle = [(low + high) / 2 for _, low, high, _ in summary]
    if d < middle[0]:
        return summary[0]
    if d >= middle[-1]:
        return summary[-1]
    i = max(i for i in range(len(summary)) if middle[i] <= d)
    (_, low, _, weight), (_, _, high, weight_next) = summary[i], summary[i + 1]
    return summary[i] if 2 * d < low + weight + high - weight_next else summary[i + 1]


def pruned(summary, b):
    if len(summary) <= b + 1:
        return summary
    total = summary[-1][2]
    points = [chosen(summary, (i / b) * total) for i in range(b)] + [summary[-1]]
    return sorted(set(points))
