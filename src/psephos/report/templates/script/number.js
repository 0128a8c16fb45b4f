// A new case where the target is a number: typed in, answered in the page by the chosen model, its votes beside it.
(() => {
  const { at, hub, make } = page,
    data = page.data.number;
  if (!data) return;
  const { write } = page.axis,
    host = at("number-live"),
    opened = {}, // by key, when first chosen
    SHOWN = 12;

  const text = (tag, words, test, kind = "") => {
    const one = make(tag, words, kind);
    if (test) one.dataset.test = test;
    return one;
  };

  // one field a column: a number or a category; nothing typed is a missing value
  const fieldOf = (one, value, change) => {
    const row = make("div", "", "field"),
      label = make("label", one.name + (one.backup ? " (where others are missing)" : "")),
      input = page.entry(
        one,
        `number-${one.at}`,
        (found) => taken("", found),
        (words) => taken(words),
      ),
      taken = (words, found) => {
        page.mark(input, words, "number-note");
        change(found);
      };
    input.value = value === null ? "" : (one.levels ? "=" : "") + value;
    label.htmlFor = input.id;
    label.title = one.whole;
    row.dataset.test = "number-field";
    row.dataset.column = one.whole;
    const holder = make("span");
    holder.append(input);
    row.append(label, holder);
    return row;
  };

  // of a weighted median each vote has a weight, of sums and means it adds its part
  const votesOf = (answer, median) => {
    const part = (one) => (median ? one.weight : one.contribution[0]),
      size = (one) => Math.abs(part(one)),
      moved = answer.ballots.filter(size).sort((a, b) => size(b) - size(a)),
      list = make("ul", "", "votes");
    moved.slice(0, SHOWN).forEach((one) => {
      const item = make("li");
      item.append(
        make("span", `${one.name ? `${one.name}: ` : ""}${one.reason} \u2192 ${one.says}`),
        " ",
        make("span", write(part(one), 4), "num quiet"),
      );
      list.append(item);
    });
    const rest = moved.slice(SHOWN).reduce((sum, one) => sum + part(one), 0);
    if (moved.length > SHOWN)
      list.append(make("li", `${moved.length - SHOWN} further votes, together ${write(rest, 4)}`));
    return list;
  };

  // The answer to the values as they stand, with its votes; nothing where a field holds no number.
  const answered = (key, model, values, wrong, { answer, note, votes }) => {
    if (wrong.size) {
      answer.textContent = "\u2013";
      note.textContent = "A field holds what is not a number.";
      votes.replaceChildren();
      return;
    }
    const row = Array(opened[key].columns.length).fill(null);
    model.fields.forEach((one, i) => {
      row[one.at] = values[i];
    });
    const found = opened[key].answer(row);
    answer.textContent = write(found.label, 5);
    answer.dataset.value = found.label;
    note.textContent = [found.unanswered, model.held].filter(Boolean).join(" ");
    votes.replaceChildren(votesOf(found, isMedian(model)));
  };
  const isMedian = (model) => model.plain.readout.score === "median";
  // The fields, which keep what was typed in `values`; of many the rest is folded.
  const fieldsOf = (model, values, wrong, refresh) => {
    const fields = model.fields.map((one, i) =>
        fieldOf(one, values[i], (value) => {
          if (value === undefined) wrong.add(i);
          else {
            wrong.delete(i);
            values[i] = value;
          }
          refresh();
        }),
      ),
      rest = fields.slice(SHOWN),
      left = make("div", "", "fields");
    left.append(...fields.slice(0, SHOWN));
    if (rest.length) left.append(page.folded(`${rest.length} further columns`, ...rest));
    return left;
  };
  // the case chosen anywhere on the page, if the page has its values
  const caseOf = (model) => model.cases.find(([row]) => row === hub.get("person"));
  const show = (key) => {
    const model = data.models[key];
    if (!model || model.why) {
      const why = model ? model.why : `${key} has no file, so that it cannot be evaluated here.`;
      host.replaceChildren(make("p", why, "note"));
      return;
    }
    opened[key] = opened[key] || openModel(model.plain);
    const own = caseOf(model),
      values = own ? own.slice(1) : [...model.start],
      from = own
        ? `${page.people.name(own[0])}, one of the cases that it was fitted to`
        : `the ${data.typical}`,
      wrong = new Set(),
      boxes = {
        answer: text("p", "", "number-answer", "big"),
        note: Object.assign(text("p", "", "", "note"), { id: "number-note" }),
        votes: make("div"),
      },
      refresh = () => answered(key, model, values, wrong, boxes),
      share = isMedian(model) ? "its weight in the median" : "how much each vote adds";
    host.replaceChildren(
      make("p", `${key} starts at ${from}; an empty field is a missing value. ${model.rounding}`),
      boxes.answer,
      boxes.note,
      fieldsOf(model, values, wrong, refresh),
      make("h3", `Who voted, and ${share}`),
      boxes.votes,
    );
    refresh();
  };

  hub.on("model", show);
  hub.on("person", () => {
    const model = data.models[hub.get("model")];
    if (model && !model.why && caseOf(model)) show(hub.get("model"));
  });
  show(hub.get("model"));
  host.hidden = false;
  if (at("case-first")) at("case-first").hidden = true;
  if (at("case-absent")) at("case-absent").hidden = true; // why, without the script
})();
