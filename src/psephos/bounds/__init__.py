"""Risk bounds of a vote: theorems as functions of a fitted model and rows.

Each function documents its hypotheses and raises an error where one does not hold; hypotheses that
cannot be checked are listed in the result. A bound that is not below the error of always
predicting the most frequent class is marked vacuous.

=============================  ===================================================================
`held_out_bound`               any classifier, on held-out rows: informative where most others are
                               vacuous
`folds_bound`                  the same for the models of a cross-validation
`tandem_bound`                 forests and bags, on their own training rows (out-of-bag)
`pac_bayes_kl_bound`           constant weights; voters and prior fixed before the rows were seen:
                               `BayesOptimalClassifier` on categories
`pac_bayes_c_bound`            the same, by margins and disagreement
`c_bound`                      the error on the given rows only, not on new cases
`occam_bound`                  one hypothesis of a finite list, or of a list with a prior
`version_space_bound`          all conjunctions that agree with the rows (`VersionSpaceClassifier`)
`gibbs_bound`                  a posterior over hypotheses: one drawn at random against their vote
`training_error_bound`         AdaBoost, SamBA: the error on the training rows only
`sample_compression_bound`     the variant of SamBA whose voters are functions of three rows
=============================  ===================================================================
"""

from psephos.bounds.concepts import gibbs_bound, version_space_bound
from psephos.bounds.held_out import folds_bound, held_out_bound, occam_bound
from psephos.bounds.pac_bayes import c_bound, pac_bayes_c_bound, pac_bayes_kl_bound, tandem_bound
from psephos.bounds.requirements import Bound
from psephos.bounds.samba import sample_compression_bound, training_error_bound

__all__ = [
    "Bound", "c_bound", "folds_bound", "gibbs_bound", "held_out_bound", "occam_bound",
    "pac_bayes_c_bound", "pac_bayes_kl_bound", "sample_compression_bound", "tandem_bound",
    "training_error_bound", "version_space_bound",
]  # fmt: skip
