"""Do the intervals of the figures cover the truth as often as they say?

    python benchmarks/quality/intervals_simulated.py [--draws 2000]

Each line is an interval of 95 % over many drawn samples of known truth: how often it held the
true value, how often it lay wholly above or below it, and its mean width. Scores are normal, one
standard deviation of noise; of grouped samples each subject has a shift of its own and four cases
of one class. Of clinics, 60 cases of both classes stand in few groups of unequal size, by lot or
each with a shift of its own odds. With 2,000 draws a coverage of 0.95 has a standard error of
0.005.
"""

import argparse

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from psephos import figures


def scores(rng, m, n, area):
    """Return the truth and a score whose ROC area is as given."""
    y = np.repeat([True, False], [m, n])
    return y, rng.normal(size=m + n) + np.sqrt(2) * norm.ppf(area) * y


def subjects(rng, m, n, area, each=4, shared=0.7):
    """Return the same of subjects of several cases that have part of their noise in common."""
    y = np.repeat(np.repeat([True, False], [m, n]), each)
    own = np.repeat(rng.normal(size=m + n), each)
    noise = np.sqrt(shared) * own + np.sqrt(1 - shared) * rng.normal(size=len(y))
    return y, noise + np.sqrt(2) * norm.ppf(area) * y, np.repeat(np.arange(m + n), each)


def lines(draws):
    """Yield (name, truth, intervals)."""
    rng = np.random.default_rng(0)

    def many(make, *given):
        return [make(rng, *given) for _ in range(draws)]

    for m, n in ((10, 30), (38, 62), (100, 200)):
        for area in (0.6, 0.8, 0.95):
            yield f"ROC-AUC, {m} and {n} cases", area, many(_area, m, n, area)
    for words, grouped in (("grouped", True), ("not grouped", False)):
        name = f"ROC-AUC, 20 and 30 subjects of 4, {words}"
        yield name, 0.8, many(_area_of_subjects, 20, 30, 0.8, grouped)
    for n in (10, 38, 200):
        for p in (0.5, 0.8, 0.95):
            yield f"share of {n}, Wilson", p, many(_wilson, n, p)
    for words, grouped in (("grouped", True), ("not grouped", False)):
        yield f"share of 40 subjects of 4, {words}", 0.8, many(_share, grouped)
    for m, n in ((10, 30), (38, 62)):
        yield f"balanced accuracy, {m} and {n} cases", 0.85, many(_balanced, m, n)
    for n in (60, 200):
        drawn = many(_line, n)
        yield f"calibration slope, {n} cases", 0.7, [one.slope for one in drawn]
        yield f"calibration in the large, {n} cases", None, [one.large for one in drawn]
    for n in (60, 200):
        yield f"Brier score, {n} cases", _brier_truth(), many(_brier, n)
    yield from _of_clinics(many)
    worth = norm.cdf(1.0) * 0.3 - norm.cdf(-1.0) * 0.7 * 0.25
    yield "net benefit at 0.2, 100 cases", worth, many(_worth, 100)


def _of_clinics(many):
    """Yield lines of cases in few clinics, drawn by lot, or each a cluster of its own."""
    for shared in (0.0, 0.1, 0.3):
        truths = _clinic_truths(shared)
        for n_groups in (3, 5, 10, 20):
            drawn = many(_clinics, n_groups, shared)
            words = "by lot" if not shared else f"of which {shared:g} of the variance is"
            for name, truth in truths.items():
                found = [one[name] for one in drawn]
                yield f"{name}, {n_groups} clinics, {words}", truth, found


def _clinics(rng, n_groups, shared, n=60):
    """Return figures of cases in clinics of unequal size."""
    sizes = np.arange(1, n_groups + 1) + n_groups
    groups = np.repeat(np.arange(n_groups), np.round(n * sizes / sizes.sum()).astype(int))
    y, p = _cases_of(rng, groups, shared)
    line = figures.calibration_line(y, p, groups)
    return {
        "calibration in the large": line.large,
        "calibration slope": line.slope,
        "Brier score": figures.brier(y, p, groups),
        "ROC-AUC": figures.area(y, p, groups),
        "share right": figures.share((p >= 0.5) == y, groups),
    }


def _cases_of(rng, groups, shared):
    """Return truth and probabilities: right but for what the clinic adds to their log-odds."""
    own = rng.normal(size=groups.max() + 1)[groups]
    odds = rng.normal(size=len(groups)) * 1.2
    spread = np.sqrt(shared / (1 - shared) * np.pi**2 / 3)  # of the latent scale of a logit
    return rng.random(len(groups)) < expit(odds + spread * own), expit(odds)


def _clinic_truths(shared):
    """Return what the figures are where clinics have no end."""
    y, p = _cases_of(np.random.default_rng(3), np.arange(400_000), shared)
    line = figures.calibration_line(y, p)
    return {
        "calibration in the large": line.large.value,
        "calibration slope": line.slope.value,
        "Brier score": figures.brier(y, p).value,
        "ROC-AUC": figures.area(y, p).value,
        "share right": float(np.mean((p >= 0.5) == y)),
    }


def _area(rng, m, n, area):
    return figures.area(*scores(rng, m, n, area))


def _area_of_subjects(rng, m, n, area, grouped):
    y, s, groups = subjects(rng, m, n, area)
    return figures.area(y, s, groups if grouped else None)


def _wilson(rng, n, p):
    return figures.wilson(int(rng.binomial(n, p)), n)


def _share(rng, grouped):
    own = np.repeat(norm.ppf(0.8) + 0 * np.arange(40), 4)
    noise = np.sqrt(0.6) * np.repeat(rng.normal(size=40), 4) + np.sqrt(0.4) * rng.normal(size=160)
    return figures.share(noise < own, np.repeat(np.arange(40), 4) if grouped else None)


def _balanced(rng, m, n):
    shares = [figures.wilson(int(rng.binomial(k, p)), k) for k, p in ((m, 0.8), (n, 0.9))]
    return figures.mean_of(shares)


def _line(rng, n):
    odds = rng.normal(size=n) * 1.5
    y = rng.random(n) < expit(0.7 * odds)
    return figures.calibration_line(y, expit(odds))


def _large_truth():
    """Return the shift that makes probabilities right on the whole, of the line above."""
    odds = np.random.default_rng(1).normal(size=400_000) * 1.5
    y = np.random.default_rng(2).random(400_000) < expit(0.7 * odds)
    return figures.calibration_line(y, expit(odds)).large.value


def _brier_truth():
    odds = np.random.default_rng(1).normal(size=400_000)
    p = expit(odds)
    return float((p * (1 - p)).mean())


def _brier(rng, n):
    p = expit(rng.normal(size=n))
    return figures.brier(rng.random(n) < p, p)


def _worth(rng, n):
    y = rng.random(n) < 0.3
    p = norm.cdf(rng.normal(size=n) + np.where(y, 1.0, -1.0) + norm.ppf(0.2))
    return figures.net_benefit(y, p, [0.2])[0].model


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    asked = parser.parse_args()
    print("| interval | truth | covered | above | below | mean width | none |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, given, found in lines(asked.draws):
        truth = _large_truth() if given is None else given
        known = [one for one in found if one.low == one.low]
        low, high = (np.array([getattr(one, end) for one in known]) for end in ("low", "high"))
        above, below = np.mean(low > truth), np.mean(high < truth)
        width = np.mean(high - low)
        print(
            f"| {name} | {truth:.3f} | {1 - above - below:.3f} | {above:.3f} | {below:.3f} "
            f"| {width:.3f} | {len(found) - len(known)} |"
        )


if __name__ == "__main__":
    main()
