"""From a table to tidy results: splits, tuning, fits, statistics.

``compare(X, y, models, protocol, out=folder)`` fits every model on every outer split, tuned inside
its training part, then on all rows. Public names: `compare`, `Comparison`, `Protocol`,
`PROTOCOLS`, `known_models`, `Contender`, `read_table`, `table_from_arrays`, `DataTable`, `MISSING`,
`columns_used`, `summary`, `paired_difference`, `pareto`, `one_standard_error`,
`selection_stability`, `Stability`, `ProsetSearchCV`; of several labels a row
`MultilabelStratifiedKFold`, `hamming_loss`, `one_error`, `coverage`, `ranking_loss` and
`average_precision`.

The folder of a comparison
--------------------------
A folder holds one study: a table (its values, labels, names of columns and cases, groups), a
target, settings (protocol, seed, treatment of copied rows) and versions. A run of another study is
refused unless it says `replace`; a run of the same one goes on, and may name more models. One
process writes at a time, by a lock of the operating system. Files appear whole or not at all;
README.txt in the folder says what each is.

All text is UTF-8, csv files have a header and lines ending in a line feed; floats are written so
that they read back exactly; a figure that is not defined is an empty cell.

results.csv
    One row per model, repeat and fold, models in the order given: ``dataset, protocol, model,
    repeat, fold, n_train, n_test, n_columns, draws, balanced_accuracy, accuracy, roc_auc, log_loss,
    columns_used, columns, n_voters, params, status, error``. `params` is JSON with sorted keys
    ('{}' are the defaults of the contender), `status` is 'ok' or 'failed', `error` a sentence. A
    shuffle split is repeat r, fold 0. `draws` counts the settings that were tried in the training
    part, 1 if a model has none. `roc_auc` is one against the rest, plain mean over classes, if
    there are more than two; `log_loss` clips probabilities to [1e-15, 1]. `columns_used` counts
    columns of the user's table, and `columns` is their positions from 0, as '0..4 7' (folders of
    schema 1 lack it); `n_voters` is empty for models that are no ensemble. Of several labels a row
    the measures are ``hamming_loss, one_error, coverage, ranking_loss, average_precision``.
predictions.csv
    One row per model, split and test row: ``model, repeat, fold, row, id, truth`` and one
    probability ``p_<class>`` a class, in the order of the classes. Of several labels a row there
    are instead ``truth_<label>``, ``given_<label>`` (0 or 1) and ``p_<label>``, a column a label
    each. `row` counts from 0 in the table; `id` is its name, or `row`. For the SVM the
    probabilities are an uncalibrated link of its decision values.
labels.csv
    Of several labels a row, one row per model and label, over all its test rows: ``model, label,
    rows, given, found, sensitivity, precision, f1``: rows that have the label, were given it, and
    both.
refits.csv
    One row per model, after the search on all rows: ``model, draws, params,
    inner_balanced_accuracy`` (of several labels a row ``inner_average_precision``) ``,
    columns_used, n_voters, file, status, error``; `file` is empty for baselines, and for models
    that are fitted one a label.
bounds.csv
    What can be proved (`psephos.bounds`) of one class a row; of several labels nothing is written:
    ``model, bound, value, delta, vacuous, of, told``.
    `bound` is 'hold-out, folds' (the mean error of the models of the folds, of the first repeat),
    and of refits of psephos 'out of bag' (tandem bound of a bag or forest) and 'published' (sample
    compression of local weights; of conjunctions over categories that of a version space, Occam's
    where one answers, PAC-Bayes-kl by the prior of all of them; else PAC-Bayes-kl). Each holds
    with probability 1 - delta, by itself. Where one does not hold, `value` is empty and `told` says
    why; else it says what is assumed.
models/<model>.psephos
    The refits of models of psephos (`psephos.load`). Rows of anchors are rows of the table.
cases.npz
    ``ids`` (n,) texts, ``y`` (n,) codes of the classes, ``names`` (q,) and ``columns`` (q,) of the
    columns that the saved models read, ``values`` (n, q): NaN is missing, categories are codes of
    the levels listed in comparison.json.
comparison.json
    ``schema, dataset, target, classes, class_counts, n_rows, n_columns, columns, categories {name:
    levels}, groups, n_groups, multilabel`` (true) ``, one_a_label, not_asked, constant`` (of
    several labels a row: models fitted one a label, default models left out, and the average
    precision of a constant answer) ``, protocol`` (a sentence), ``protocol_settings,
    random_state, models {name: family, origin, ensemble, order, draws, distributions, notes},
    fingerprint, copies {rows, different, named, treated} or null, independent_rows (n^2 / sum of
    squared sizes of groups and copies), files {name: SHA-256}`` of the
    models and of cases.npz. It is removed before any other file changes and written after all: a
    folder without it holds no finished run.
study.json
    The identity of the study, as `identity_of` returns it, and a digest of it.
timings.csv
    One row per fit and refit (repeat and fold 'all'): ``model, repeat, fold, search_seconds,
    fit_seconds, predict_seconds, draws_failed, warnings`` (JSON: text and count)``, finished``
    (when, UTC).
environment.json
    ``schema, versions {package: version}, warnings [sentence]`` (failed fits, unsaved refits).
journal.jsonl
    One line per finished fit, on the disk before the next begins, by the SHA-256 of everything it
    depends on, with a checksum of the line. It is what a resumed run reads. Failed fits are tried
    again.
fits/<key>.psephos
    Saved refits of all configurations, by the same key.
folds/<key>.psephos
    Models of the folds, of at most 512 KiB each, on the columns they read; ``folds {name: [{repeat,
    fold, file, sha256} or {repeat, fold, not_kept}]}`` of comparison.json says whose. See
    `read_folds` and `returned`.

A saved model holds the map of its probabilities that the held-out answers justify
(`psephos.recalibrated`).

results.csv, predictions.csv, refits.csv, bounds.csv, comparison.json and the models are the same
bytes for any number of jobs and after any interruption. They are of the models that the last
finished run named; fits of others stay in the journal, and naming these again restores them at
once.
"""

from psephos.contender import Contender
from psephos.protocol.evaluation.label_scores import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)
from psephos.protocol.evaluation.label_splits import MultilabelStratifiedKFold
from psephos.protocol.evaluation.presets import PROTOCOLS, Protocol
from psephos.protocol.evaluation.stability import Stability, selection_stability
from psephos.protocol.evaluation.statistics import (
    better_than_constant,
    one_standard_error,
    paired_difference,
    pareto,
    summary,
)
from psephos.protocol.running.columns import columns_used
from psephos.protocol.running.contenders import known_models
from psephos.protocol.running.prototype_search import ProsetSearchCV
from psephos.protocol.running.runner import compare
from psephos.protocol.study.comparison import Comparison
from psephos.protocol.study.displays import AccuracyDisplay, StabilityDisplay
from psephos.protocol.study.fold_models import FoldModel, read_folds
from psephos.protocol.study.returning import Returned, returned, returned_of
from psephos.protocol.tables.files import MISSING, read_table
from psephos.protocol.tables.table import DataTable, table_from_arrays

__all__ = [
    "MISSING",
    "PROTOCOLS",
    "AccuracyDisplay",
    "Comparison",
    "Contender",
    "DataTable",
    "FoldModel",
    "MultilabelStratifiedKFold",
    "ProsetSearchCV",
    "Protocol",
    "Returned",
    "Stability",
    "StabilityDisplay",
    "average_precision",
    "better_than_constant",
    "columns_used",
    "compare",
    "coverage",
    "hamming_loss",
    "known_models",
    "one_error",
    "one_standard_error",
    "paired_difference",
    "pareto",
    "ranking_loss",
    "read_folds",
    "read_table",
    "returned",
    "returned_of",
    "selection_stability",
    "summary",
    "table_from_arrays",
]
