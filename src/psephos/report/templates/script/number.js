// A new case for a numeric target: the chosen model's prediction and its votes.
(() => {
  const { at, hub, make } = page,
    data = page.data.number;
  if (!data) return;
  const { write } = page.axis,
    { beyond, fields, refused, whole } = page.fields,
    host = at("case-live"),
    opened = {}, // by key, read when first chosen
    SHOWN = 12;

  // in a weighted median each vote has a weight; in sums and means it has a contribution
  const isMedian = (model) => model.plain.readout.score === "median";
  const votesOf = ({ ballots }, median, columns) => {
    const part = (one) => (median ? one.weight : one.contribution[0]),
      size = (one) => Math.abs(part(one)),
      moved = ballots.filter(size).sort((a, b) => size(b) - size(a)),
      reach = Math.max(...moved.map(size), 1e-12),
      rest = moved.slice(SHOWN).reduce((sum, one) => sum + part(one), 0),
      { item, list, reasonOf } = page.ballot,
      { signs } = page.words;
    const shown = moved.slice(0, SHOWN).map((one) => {
      const words = `${one.name ? `${one.name}: ` : ""}${one.reason}`;
      return [
        [
          ...reasonOf({ name: one.name, words, read: one.columns }, columns),
          ` \u2192 ${signs(String(one.says))}`,
        ],
        part(one),
      ];
    });
    if (moved.length > SHOWN) shown.push([[`${moved.length - SHOWN} further votes`], rest, 0]);
    return list(shown.map(([words, v, bar = v]) => item(words, bar, reach, "", write(v))));
  };

  // A prediction, with digits by the held-out error: 23.2, not 23.163, if that is 1.97.
  const digitsOf = ({ mae }) => Math.min(Math.max(Math.ceil(1 - Math.log10(mae)), 0), 12);
  const written = (v, calc, least = 0) =>
    calc.mae ? page.words.number(v, Math.max(digitsOf(calc), least)) : write(v, 5);

  // What would move the prediction across a value that is typed: at first one mean absolute error above it.
  const turned = (calc, open, x, { value, fixed, turn }) => {
    let at = calc.mae ? Number((value + calc.mae).toFixed(digitsOf(calc))) : null;
    const goal = (press, found) => {
        const set = (v) => {
          at = v;
          press.disabled = at === null;
          found.replaceChildren();
        };
        const field = page.entry({}, "goal", set, () => set(null));
        Object.assign(field, { value: at ?? "", className: "figure" });
        press.textContent = "What would change this answer?";
        press.disabled = at === null;
        return make("p", make("label", ["A change should move the prediction across ", field]));
      },
      ask = ({ label }) => ({ scores: [label - at], label, called: Number(label >= at) }),
      own = () => (String(at).split(".")[1] || "").length, // decimals
      phrase = ({ label }) => [`the prediction is ${written(label, calc, own())}`];
    const about = { calc, x, open, fixed, goal, ask, phrase };
    page.turn.show(turn, { ...about, whole: (own) => whole(calc, open, own) });
  };

  // The errors of the held-out cases with predictions in the range of this one.
  const heldOut = () => page.data.observed?.models[hub.get("model")];
  const likeThis = (v) => {
    const like = heldOut()?.like.find(([high]) => high === null || v <= high);
    const [, range, n, size, interval, mean] = like || [];
    return like
      ? `Held-out cases${range && ` with predictions ${range}`} (${n}): mean absolute error ${size} (95 % interval ${interval}), mean error ${mean}.`
      : "";
  };

  // The prediction for the current values, with its votes; nothing if a field is not a number.
  const answered = (model, open, x, wrong, { answer, turn, votes, fixed }) => {
    [turn, votes].forEach((box) => box.replaceChildren());
    if (wrong.size) return answer.replaceChildren(refused(model, wrong));
    const found = open.answer(whole(model, open, x)),
      look = { className: "big", data: { test: "number-answer", value: found.label } };
    answer.replaceChildren(
      make("p", found.unanswered ? "No answer" : written(found.label, model), look),
      ...beyond(model, x),
      make("p", found.unanswered || `${data.unit} ${likeThis(found.label)}`, "note"),
    );
    if (found.unanswered) return;
    turned(model, open, x, { value: found.label, fixed, turn });
    const share = isMedian(model) ? "its weight in the median" : "how much each vote adds";
    votes.append(make("h3", `Who voted, and ${share}`));
    votes.append(votesOf(found, isMedian(model), open.columns));
  };
  // the case chosen on the page, if the page has its values
  const caseOf = (model) => model.cases.find(([row]) => row === hub.get("person"));
  const show = (key) => {
    const model = data.models[key],
      why = model ? model.why : `${key} has no file, so that it cannot be evaluated here.`;
    if (why) return host.replaceChildren(make("p", why, "note"));
    const open = (opened[key] ??= openModel(model.plain)),
      own = caseOf(model),
      x = own ? own.slice(1) : [...model.start],
      wrong = new Map(),
      worst = own && heldOut()?.worst.find(([row]) => row === own[0]),
      known = worst
        ? ` (observed ${worst[2]}, predicted ${worst[3]} when it was held out, which counts in the errors above)`
        : "",
      from = own
        ? `${page.people.name(own[0])}${known}, one of the cases that it was fitted to`
        : `the ${data.typical}`,
      boxes = {
        answer: make("div", "", { className: "answer", ariaLive: "polite" }),
        ...{ turn: make("div"), votes: make("div"), fixed: new Set() },
      },
      changed = () => answered(model, open, x, wrong, boxes),
      right = make("div", [make("div", [boxes.answer, boxes.turn], "stuck"), boxes.votes]);
    changed();
    return host.replaceChildren(
      make("p", `${key} starts at ${from}; an empty field is a missing value. ${model.rounding}`),
      make("div", [fields(model, { x, wrong, changed }), right], "newcase"),
    );
  };

  hub.on("model", show);
  hub.on("person", () => {
    const model = data.models[hub.get("model")];
    if (model && !model.why && caseOf(model)) show(hub.get("model"));
  });
  page.all("#case-first, #case-absent").forEach((one) => (one.hidden = true)); // shown only without script
  host.hidden = false;
  show(hub.get("model"));
})();
