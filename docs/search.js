// How results of the site's search are ranked: read in place of Sphinx's own numbers.
// What helps to do something comes first, then the reference, and the project's history last.

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score: ([page, , , description, score]) => {
    const history = /^(made\/(decisions|changes)|architecture|project|seeds)/;
    if (history.test(page)) return score - 100;
    if (/^(start|guides|which-model)/.test(page)) return score + 14;
    if (/^(cautions|faq)/.test(page)) return score + 12;
    // every class has methods of the same names
    return /^Python (method|attribute|property)/.test(description ?? "") ? score - 15 : score;
  },
};
