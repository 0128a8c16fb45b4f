"""What can be proved of a vote: theorems as functions of a fitted model and rows.

Each says what it requires and refuses what is not so, with a sentence; what cannot be checked is
listed in the result. A bound that is not below the
error of always predicting the most frequent class proves nothing: it is marked vacuous.

=============================  ===================================================================
`held_out_bound`               any classifier, rows it never saw: informative where little else is
`folds_bound`                  the same of the models of a cross-validation
`tandem_bound`                 forests and bags, from the rows they were grown on (out-of-bag)
`pac_bayes_kl_bound`           constant weights, voters and prior that were there before the rows:
                               `BayesOptimalClassifier` on categories
`pac_bayes_c_bound`            the same, by margins and disagreement
`c_bound`                      given rows alone
`occam_bound`                  one hypothesis of a finite list, or of one with a prior
`version_space_bound`          all conjunctions that agree with the rows (`VersionSpaceClassifier`)
`gibbs_bound`                  a posterior over hypotheses: one drawn against the vote of all
`training_error_bound`         AdaBoost, SamBA: the training rows alone
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
