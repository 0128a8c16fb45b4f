"""Do the bounds hold, and do they fail where a hypothesis is broken on purpose?

    python benchmarks/quality/bounds_simulated.py [--draws 1000] [--only NAME]

Each line is a bound over many drawn tables of known truth, at delta = 0.05: how often it was below
the true risk (at most 73 of 1,000 where it holds: the 99.9 % point of 50 expected), the medians of
bound and truth, and how often it was vacuous. Below the rule the same simulation with one
hypothesis broken: the value is then computed around the refusal (`Vote` alone, which knows nothing
of its fit), and the refusal itself is printed once.
"""

import argparse
from math import sqrt

import numpy as np

from psephos import (
    BaggingClassifier,
    BayesOptimalClassifier,
    CARTClassifier,
    CompressedSamBAClassifier,
    ExtraTreesClassifier,
    GibbsClassifier,
    PsephosError,
    RandomForestClassifier,
    SamBAClassifier,
    VersionSpaceClassifier,
)
from psephos.bounds import (
    folds_bound,
    held_out_bound,
    occam_bound,
    pac_bayes_c_bound,
    pac_bayes_kl_bound,
    sample_compression_bound,
    tandem_bound,
    training_error_bound,
    version_space_bound,
)
from psephos.bounds.formulas import (
    c_bound_1,
    c_bound_2,
    gibbs_kl,
    sample_compression,
    tandem_kl,
)  # fmt: skip
from psephos.vote import (
    Constant,
    InverseDistance,
    Local,
    Readout,
    StumpVoters,
    Target,
    Vote,
)  # fmt: skip

LEVELS, COLUMNS, NOISE = 8, 3, 0.05
ROWS = 200
CELLS = np.stack(np.meshgrid(*[np.arange(LEVELS)] * COLUMNS), -1).reshape(-1, COLUMNS) * 1.0
BINARY = Target(np.array([0, 1]))


def drawn(rng, n, noise=NOISE):
    """Return rows of small whole numbers, and labels: column 0 above its middle, but for noise."""
    X = rng.integers(0, LEVELS, (n, COLUMNS)).astype(float)
    return X, ((X[:, 0] > 3) ^ (rng.random(n) < noise)).astype(int)


def true_risk(said, noise=NOISE):
    """Return the exact risk of answers (0 or 1, or the chance of 1) on all cells."""
    wrong = np.abs(said - (CELLS[:, 0] > 3))
    return float((wrong * (1 - noise) + (1 - wrong) * noise).mean())


def grid():
    """Return all stumps on these columns, which are there before any row is drawn."""
    feature = np.repeat(np.arange(COLUMNS), 2 * (LEVELS - 1))
    cut = np.tile(np.repeat(np.arange(LEVELS - 1) + 0.5, 2), COLUMNS)
    side = np.tile([[1.0], [-1.0]], (len(cut) // 2, 1))
    return StumpVoters(
        COLUMNS, np.arange(COLUMNS), feature, cut, np.zeros(len(cut), bool),
        np.zeros(len(cut) + 1, np.intp), np.empty(0, bool), -side, side,
    )  # fmt: skip


STUMPS = grid()
GRID_VOTES = STUMPS.votes(CELLS)[:, :, 0]


def weighed(X, y, sharp=0.3):
    """Return the vote of all stumps, weighed by exp(-sharp * errors): a posterior of these rows."""
    errors = (STUMPS.votes(X)[:, :, 0] != (2 * y - 1)[:, None]).sum(axis=0)
    alpha = np.exp(-sharp * (errors - errors.min()))
    return Vote(STUMPS, Constant(COLUMNS, alpha), Readout("normalised", "share"), BINARY)


class Picked:
    """The stump of least error, as a classifier."""

    def __init__(self, X, y):
        errors = (STUMPS.votes(X)[:, :, 0] != (2 * y - 1)[:, None]).sum(axis=0)
        self.t, self.classes_ = int(errors.argmin()), BINARY.classes

    def predict(self, X):
        return (STUMPS.votes(X)[:, self.t, 0] > 0).astype(int)


# ------------------------------------------------------------------- where hypotheses hold
def learned_weights(bound, **settings):
    def one(rng):
        X, y = drawn(rng, ROWS)
        vote = weighed(X, y)
        return bound(vote, X, y, rows="weights", prior="uniform", **settings), risk_of(vote)

    return one


def held_out_rows(bound, **settings):
    def one(rng):
        vote = weighed(*drawn(rng, 40))
        return bound(vote, *drawn(rng, ROWS), **settings), risk_of(vote)

    return one


def gibbs_limit(rng):
    """The limit of the Gibbs risk itself: twice it leaves much room."""
    X, y = drawn(rng, ROWS)
    vote = weighed(X, y)
    found = pac_bayes_kl_bound(vote, X, y, rows="weights", prior="uniform")
    q = vote.constant_weights() / vote.constant_weights().sum()
    risks = np.array([true_risk(said) for said in (GRID_VOTES.T > 0) * 1.0])
    return found.parts["Gibbs risk is at most"], float(q @ risks)


def risk_of(vote):
    return true_risk(vote.answers(CELLS))


def picked_one(rng):
    X, y = drawn(rng, ROWS)
    model = Picked(X, y)
    return occam_bound(model, X, y, n_hypotheses=STUMPS.n_voters), true_risk(model.predict(CELLS))


def picked_folds(rng):
    X, y = drawn(rng, ROWS)
    parts = np.array_split(np.arange(ROWS), 5)
    models = [Picked(np.delete(X, part, 0), np.delete(y, part)) for part in parts]
    errors = [int((m.predict(X[p]) != y[p]).sum()) for m, p in zip(models, parts, strict=True)]
    truth = np.mean([true_risk(m.predict(CELLS)) for m in models])
    return folds_bound(errors, [len(p) for p in parts], 2), truth


def continuous(rng, n, noise=NOISE):
    X = rng.random((n, 6))
    return X, ((X[:, 0] > 0.5) ^ (rng.random(n) < noise)).astype(int)


AHEAD = continuous(np.random.default_rng(10**6), 5000)


def of_bag(make, bound, n=600):
    def one(rng):
        X, y = continuous(rng, n)
        model = make(int(rng.integers(2**31))).fit(X, y)
        return bound(model, X, y, rows="out-of-bag"), 1 - model.score(*AHEAD)

    return one


def forest(seed):
    return RandomForestClassifier(10, max_depth=2, random_state=seed)


def bag(seed):
    tree = CARTClassifier(max_depth=1, cp=0.0)
    return BaggingClassifier(tree, n_estimators=8, random_state=seed)


def compressed(rng, theorem, **settings):
    X, y = continuous(rng, 2000, 0.02)
    model = CompressedSamBAClassifier(
        n_estimators=3, a=1.0, b=4.0, distance_columns=[0], random_state=int(rng.integers(2**31)),
        **settings,
    ).fit(X, y)  # fmt: skip
    found = sample_compression_bound(model, X, y, theorem=theorem)
    return found, 1 - model.score(*continuous(rng, 5000, 0.02))


def boosted(a):
    """SamBA's training error: at a = 0 theorem 1's, at a > 0 that of its answers."""

    def one(rng):
        X, y = continuous(rng, 60, 0.3)
        made = SamBAClassifier(n_estimators=5, a=a, update="sample")
        if a == 0:
            found = training_error_bound(made.fit(X, y), X, y)
            return found, found.parts["error on the rows"]
        theorem = training_error_bound(made.set_params(a=0.0).fit(X, y), X, y)
        return theorem, 1 - made.set_params(a=a).fit(X, y).score(X, y)

    return one


def bayes(from_prior):
    """Twice the vote's error and that of a hypothesis drawn from the posterior, on 8 cases."""

    def one(rng):
        rules = np.sign(rng.standard_normal((32, 8)))
        truth, left = rules[0], rules  # all are alike: the first is as good as drawn from the prior
        if from_prior:
            left = rules[(rules[:, :2] == truth[:2]).all(axis=1)]  # two cases have been seen
        share = left.mean(axis=0)
        said = np.where(share > 0, 1.0, -1.0)
        truth = truth if from_prior else said
        return 2 * float((said != truth).mean()), float((0.5 * (1 - truth * share)).mean())

    return one


KINDS = np.stack(np.meshgrid(*[np.arange(3)] * 5), -1).reshape(-1, 5) * 1.0
CATEGORIES = {"categorical_features": list(range(5))}


def conjunction(rng, n, noise):
    """Return rows of five categories, labels by one or two tests, and the truth on all cells."""
    tested = rng.choice(5, int(rng.integers(1, 3)), replace=False)
    rule = (KINDS[:, tested] == rng.integers(0, 3, len(tested))).all(axis=1)
    while True:  # a table of one class has no model
        at = rng.integers(0, len(KINDS), n)
        y = (rule[at] ^ (rng.random(n) < noise)).astype(int)
        if 0 < y.sum() < n:
            return KINDS[at], y, rule


def concept(make, bound, noise, n=ROWS, part="", **settings):
    """A model of conjunctions over categories, by its own prior over all 1,025 of them."""

    def one(rng):
        X, y, rule = conjunction(rng, n, noise)
        model = make(int(rng.integers(2**31))).fit(X, y)
        found = bound(model, X, y, **settings)
        wrong = model.predict(KINDS) != rule
        truth = float(np.where(wrong, 1 - noise, noise).mean())
        if not part:
            return found, truth
        q = model.posterior_[0]
        away = (model.vote_.votes(KINDS)[:, :, 0] > 0) != rule[:, None]
        return found.parts[part], float(np.where(away, 1 - noise, noise).mean(axis=0) @ q)

    return one


def bayes_optimal(seed):
    return BayesOptimalClassifier(**CATEGORIES)


def short_bayes(seed):
    return BayesOptimalClassifier(prior="short", noise=0.3, max_hypotheses=200, **CATEGORIES)


def version_space(seed):
    return VersionSpaceClassifier(max_hypotheses=20, **CATEGORIES)  # more are counted


def one_drawn(seed):
    return GibbsClassifier(random_state=seed, **CATEGORIES)


# ------------------------------------------------------------------- where one is broken
def noise_rows(rng, n, p=5):
    return rng.random((n, p)), rng.integers(0, 2, n)


def learned_by_heart(bound, **settings):
    """Prior after the data: trees that know their rows, of labels that are drawn by lot."""

    def one(rng):
        X, y = noise_rows(rng, 100)
        model = ExtraTreesClassifier(10, random_state=0).fit(X, y)
        return bound(model.vote_, X, y, **settings), 0.5

    def refused():
        X, y = noise_rows(np.random.default_rng(0), 100)
        return bound(ExtraTreesClassifier(10, random_state=0).fit(X, y), X, y, **settings)

    return one, refused


def local_vote(rng, n=400, T=20):
    """Stumps drawn before the rows, weighed on each case by who was right on the row nearest."""
    X, y = noise_rows(rng, n)
    cut = rng.random(T)
    side = rng.choice([-1.0, 1.0], (T, 1))
    voters = StumpVoters(
        5, np.arange(5), rng.integers(0, 5, T), cut, np.zeros(T, bool),
        np.zeros(T + 1, np.intp), np.empty(0, bool), -side, side,
    )  # fmt: skip
    right = (voters.votes(X)[:, :, 0] > 0) == (y == 1)[:, None]
    similarity = InverseDistance(0.0, 1.0, 1.0, False, np.ones(5), np.zeros(5, bool), 1.0)
    local = Local(
        5, np.arange(5), similarity, X, np.ones(n), np.packbits(right, axis=1), T,
        1 / np.e, np.e, np.arange(n), y,
    )  # fmt: skip
    return Vote(voters, local, Readout("normalised", "share"), BINARY), X, y


def local_weights(bound, **settings):
    """Weights that depend on x: at a training row they know its label.

    The value is the formula of the margins, KL being that of the mean weights from equal ones: 0.
    """

    def one(rng):
        vote, X, y = local_vote(rng)
        margin = np.where(y == 1, 1, -1) * vote.score(X)[:, 0]
        risk, d = float(0.5 * (1 - margin.mean())), float(0.5 * (1 - (margin**2).mean()))
        tandem = max(0.0, risk - d / 2)
        values = {
            pac_bayes_kl_bound: lambda: 2 * gibbs_kl(risk, 0.0, len(y)),
            tandem_bound: lambda: tandem_kl(tandem, 0.0, len(y)),
            pac_bayes_c_bound: lambda: (
                c_bound_1 if settings.get("version") == 1 else c_bound_2
            )(risk, d, 0.0, len(y)),
        }  # fmt: skip
        return values[bound](), 0.5

    def refused():
        vote, X, y = local_vote(np.random.default_rng(0))
        return bound(vote, X, y, **settings)

    return one, refused


def gini_categories(rng, n=300):
    """A Gini stump on a column of many categories: which go left depends on all rows."""
    X = rng.permutation(10**5)[:n].astype(float)[:, None]
    y = rng.integers(0, 2, n)
    model = SamBAClassifier(
        n_estimators=1, a=100.0, b=1.0, categorical_features=[0], distance_scale=None,
        column_scale=None, update="sample",
    )  # fmt: skip
    return model, X, y


def dependent_rule(rng):
    model, X, y = gini_categories(rng)
    model.fit(X, y)
    vote, n = model.vote_, len(y)
    local = vote.weighting
    score, mass = vote.score_and_mass(model._values(X))
    scale = local.similarity.a**local.similarity.b
    scale /= float((local.anchor_weight @ local.expertise).sum())
    gibbs = 0.5 * (1 - float((np.where(y == 1, 1, -1) * score[:, 0] * mass).mean()) * scale)
    q = local.anchor_weight[:, None] * local.expertise
    q = q / q.sum()
    return 2 * sample_compression(gibbs, float((q * np.log(q * q.size)).sum()), n), 0.5


def dependent_refused():
    model, X, y = gini_categories(np.random.default_rng(0))
    return sample_compression_bound(model.fit(X, y), X, y)


def dependent_threshold(rng):
    """The best of all thresholds on 300 columns of noise, said to be the only hypothesis."""
    X, y = noise_rows(rng, 30, 300)
    order = np.argsort(X, axis=0)
    ones = np.cumsum(y[order], axis=0)[:-1]
    rows = np.arange(1, 30)[:, None]
    errors = ones + (30 - rows) - (y.sum() - ones)  # 0 on the left, 1 on the right
    fewest = int(min(errors.min(), (30 - errors).min()))

    class Best:
        classes_ = BINARY.classes

        def predict(self, X):
            return np.where(np.arange(30) < fewest, 1 - y, y)  # errs as often as the best

    return occam_bound(Best(), X, y, n_hypotheses=1), 0.5


def threshold_refused():
    X, y = noise_rows(np.random.default_rng(0), 30, 300)
    return occam_bound(CARTClassifier(max_depth=1).fit(X, y), X, y)


def bag_refused():
    X, y = noise_rows(np.random.default_rng(0), 100)
    return tandem_bound(ExtraTreesClassifier(10, random_state=0).fit(X, y), X, y)


def best_of_all(rng):
    """The conjunction that the posterior holds most probable, said to be the only one there was."""
    X = rng.integers(0, 3, (60, 6)).astype(float)
    y = rng.integers(0, 2, 60)
    y[:2] = 0, 1
    model = BayesOptimalClassifier(decision="map", categorical_features=list(range(6)))
    return occam_bound(model.fit(X, y), X, y, n_hypotheses=1), 0.5


def bins_refused():
    X, y = noise_rows(np.random.default_rng(0), 30)
    return occam_bound(BayesOptimalClassifier(decision="map", n_bins=2).fit(X, y), X, y)


HOLD = {
    "hold-out, binomial": held_out_rows(held_out_bound),
    "hold-out, five folds": picked_folds,
    "Occam, 42 stumps": picked_one,
    "PAC-Bayes-kl, Gibbs risk": gibbs_limit,
    "PAC-Bayes-kl, learned weights": learned_weights(pac_bayes_kl_bound),
    "PAC-Bayes-kl, held-out rows": held_out_rows(pac_bayes_kl_bound),
    "C-bound 1, learned weights": learned_weights(pac_bayes_c_bound, version=1),
    "C-bound 2, learned weights": learned_weights(pac_bayes_c_bound),
    "tandem, learned weights": learned_weights(tandem_bound),
    "tandem, out of bag, forest": of_bag(forest, tandem_bound),
    "tandem, out of bag, bag": of_bag(bag, tandem_bound),
    "PAC-Bayes-kl, out of bag, bag": of_bag(bag, pac_bayes_kl_bound),
    "sample compression, theorem 3": lambda rng: compressed(rng, 3),
    "sample compression, theorem 4": lambda rng: compressed(rng, 4, n_anchors=5),
    "training error, theorem 1": boosted(0.0),
    "Gibbs by Bayes (means)": bayes(True),
    "Bayes-optimal, PAC-Bayes-kl": concept(
        bayes_optimal, pac_bayes_kl_bound, NOISE, rows="weights"
    ),
    "Bayes-optimal, Gibbs risk": concept(
        bayes_optimal, pac_bayes_kl_bound, NOISE, part="Gibbs risk is at most", rows="weights"
    ),
    "Bayes-optimal, short prior, Gibbs risk": concept(
        short_bayes, pac_bayes_kl_bound, NOISE, 60, "Gibbs risk is at most", rows="weights"
    ),
    "Bayes-optimal, tandem": concept(bayes_optimal, tandem_bound, NOISE, rows="weights"),
    "one conjunction drawn, Occam": concept(one_drawn, occam_bound, NOISE, 60),
    "version space": concept(version_space, version_space_bound, 0.0, 60),
}
BROKEN = {
    "PAC-Bayes-kl, prior after the data": learned_by_heart(pac_bayes_kl_bound),
    "C-bound 1, prior after the data": learned_by_heart(pac_bayes_c_bound, version=1),
    "C-bound 2, prior after the data": learned_by_heart(pac_bayes_c_bound),
    "tandem, prior after the data": learned_by_heart(tandem_bound, rows="held-out"),
    "tandem, rows in the bag": (learned_by_heart(tandem_bound, rows="held-out")[0], bag_refused),
    "hold-out, training rows": learned_by_heart(held_out_bound),
    "PAC-Bayes-kl, weights by x": local_weights(pac_bayes_kl_bound),
    "C-bound 1, weights by x": local_weights(pac_bayes_c_bound, version=1),
    "C-bound 2, weights by x": local_weights(pac_bayes_c_bound),
    "tandem, weights by x": local_weights(tandem_bound),
    "Occam, dependent threshold": (dependent_threshold, threshold_refused),
    "sample compression, Gini rule": (dependent_rule, dependent_refused),
    "training error, a = 1": (boosted(1.0), None),
    "Gibbs by Bayes, another target (means)": (bayes(False), None),
    "Occam, best of 4,097 conjunctions": (best_of_all, bins_refused),
}  # fmt: skip


def simulate(name, one, draws):
    """Return (times below the truth, median bound, median truth, times vacuous)."""
    found, vacuous = np.empty((draws, 2)), 0
    for i in range(draws):
        bound, truth = one(np.random.default_rng([i, 20]))
        value = getattr(bound, "value", bound)
        vacuous += value >= 0.5
        found[i] = value, truth
    if name.endswith("(means)"):  # a statement on the mean over targets
        value, truth = found.mean(axis=0)
        spread = 3 * (found[:, 1] - found[:, 0]).std() / sqrt(draws)
        return draws * int(truth > value + spread), value, truth, vacuous
    fails = int((found[:, 0] < found[:, 1] - 1e-12).sum())
    return (fails, *np.median(found, axis=0), vacuous)


def refusal(ask):
    """Return the sentence that refuses, or '' where nothing is to be asked."""
    try:
        return str(ask()) and "NOT REFUSED"
    except PsephosError as error:
        return str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("| simulation | below the truth | median bound | median truth | vacuous |")
    print("|---|---|---|---|---|")
    told = []
    for name, case in (HOLD | BROKEN).items():
        if options.only not in name:
            continue
        one, refused = case if isinstance(case, tuple) else (case, None)
        fails, value, truth, vacuous = simulate(name, one, options.draws)
        print(f"| {name} | {fails} | {value:.3f} | {truth:.3f} | {vacuous} |", flush=True)
        if refused is not None:
            told.append(f"- {name}: {refusal(refused)}")
    print("\n".join(told))


if __name__ == "__main__":
    main()
