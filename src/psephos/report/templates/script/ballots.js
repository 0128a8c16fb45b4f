(() => {
  const { all, at, make, svg } = page;
  // ---- ballots
  const data = page.data.ballots;
  if (!data) return;
  const minus = "\u2212";
  const plain = (x) =>
    x
      .toFixed(3)
      .replace(/^-(0\.0*)$/, "$1")
      .replace("-", minus);
  const signed = (x) => {
    const text = plain(x);
    return text[0] === minus || Number(text) === 0 ? text : "+" + text;
  };
  const times = (n, word) => (n === 1 ? "1 " + word : n + " " + word + "s");
  const bar = (term, reach) => {
    const width = Math.min(Math.abs(term) / reach, 1) * 58;
    const box = svg("svg", { viewBox: "0 0 120 14", "aria-hidden": "true" });
    box.append(
      svg("line", { class: "zero", x1: 60, x2: 60, y1: 0, y2: 14 }),
      svg("rect", {
        class: term > 0 ? "for" : "against",
        x: term > 0 ? 60 : 60 - width,
        y: 2,
        width,
        height: 10,
      }),
    );
    return box;
  };

  const chance = (one, k) =>
    one.q ? `; ${one.t ? one.t[k] + ": " : ""}probability ${plain(one.q[k])}` : "";

  const inRow = (name) => name.replace(/^row (\d+)$/, "in row $1");
  const select = at("case-select"),
    search = at("case-search"),
    output = at("output-select"),
    more = at("all-voters");
  let current = 0,
    open = false,
    chosen = null;

  const show = () => {
    const one = data.cases[current],
      name = data.ids[one.i],
      said = data.classes[one.p];
    const k = data.outputs.length === 1 ? 0 : chosen === null ? (one.f ?? one.p) : chosen;
    at("case-title").textContent = "Case " + inRow(name);
    let words = `It ${data.verb} ${data.classes[data.y[one.i]]}; the model, fitted on it, says ${said}.`;
    if (one.h[1])
      words += ` Held out, it was answered rightly ${one.h[0]} of ${times(one.h[1], "time")}.`;
    at("case-words").textContent = words;
    at("ballot-caption").textContent =
      `Ballots of case ${inRow(name)}, those that moved the answer most first`;
    const lines = [...one.l].sort((a, b) => Math.abs(b[3 + k]) - Math.abs(a[3 + k]));
    const reach = Math.max(...lines.map((line) => Math.abs(line[3 + k])), 0) || 1;
    const visible = open ? lines : lines.slice(0, data.shown),
      left = lines.slice(visible.length);
    let sum = 0;
    const row = (words, whole, voters, weight, term) => {
      sum += term;
      const row = make("tr"),
        head = make("th", words),
        strip = make("td", "", "bar k-bar drawn");
      head.scope = "row";
      if (whole) head.title = whole;
      row.dataset.test = "voter";
      row.dataset.contribution = term;
      strip.append(bar(term, reach));
      const added = make("td", signed(term), "num");
      added.dataset.value = term; // whole in the file
      row.append(
        head,
        make("td", voters),
        make("td", weight, "num k-weight"),
        added,
        strip,
        make("td", signed(sum), "num k-sum"),
      );
      return row;
    };
    const rows = visible.map((line) => {
      const sentence = data.sentences[line[0]];
      // pieces of the sentence, and between them the numbers of this case
      const words = sentence.t.map((piece, j) => (j ? line[1][j - 1] : "") + piece).join("");
      return row(
        words,
        sentence.r.map((j) => data.whole[j]).join("\n"),
        sentence.v,
        plain(line[2]),
        line[3 + k],
      );
    });
    if (left.length || one.o[0]) {
      const together = left.reduce((total, line) => total + line[3 + k], 0) + one.o[1 + k];
      rows.push(
        row(
          times(left.length + one.o[0], one.o[0] ? "other voter" : "other line") + ", together",
          "",
          "",
          "",
          together,
        ),
      );
    }
    at("ballot-rows").replaceChildren(...rows);
    at("score").textContent = signed(one.s[k]);
    at("score").dataset.score = one.s[k];
    at("score-words").textContent =
      (data.outputs.length > 1 && (one.f !== undefined || k !== one.p)
        ? `of ${data.outputs[k]}; `
        : "") +
      "the answer: " +
      said +
      chance(one, k);
    more.hidden = lines.length <= data.shown;
    more.textContent = open ? "Show only the first" : `Show ${lines.length} lines`;
    at("near").hidden = !one.n.length;
    at("near-rows").replaceChildren(
      ...one.n.map(([row, distance, share, label]) => {
        const line = make("tr"),
          head = make("th", row < 0 ? "–" : data.ids[row] + (row === one.i ? " (this case)" : ""));
        head.scope = "row";
        line.dataset.test = "near-case";
        line.append(
          head,
          make("td", data.classes[label]),
          make("td", plain(distance), "num"),
          make("td", (100 * share).toFixed(1) + " %", "num"),
        );
        return line;
      }),
    );
    select.value = String(current);
    if (output) output.value = String(k);
  };

  const choices = data.cases.map((one, position) => {
    const wrong = one.p === data.y[one.i] ? "" : ", answered wrongly";
    const option = make("option", `${data.ids[one.i]} (${data.classes[data.y[one.i]]}${wrong})`);
    option.value = position;
    return option;
  });
  const listed = () => [...select.options].map((option) => Number(option.value));
  const go = (position) => {
    current = position;
    show();
  };
  const move = (step) => {
    const list = listed();
    if (list.length)
      go(list[(Math.max(list.indexOf(current), 0) + step + list.length) % list.length]);
  };
  select.append(...choices);
  select.addEventListener("change", () => go(Number(select.value)));
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const found = choices.filter((option) => option.textContent.toLowerCase().includes(wanted));
    select.replaceChildren(...found);
    at("case-none").hidden = found.length > 0;
    if (found.length && !listed().includes(current)) go(Number(found[0].value));
    else if (found.length) select.value = String(current);
  });
  at("case-back").addEventListener("click", () => move(-1));
  at("case-next").addEventListener("click", () => move(1));
  more.addEventListener("click", () => {
    open = !open;
    show();
  });
  if (output) {
    output.append(
      ...data.outputs.map((name, k) => {
        const option = make("option", name);
        option.value = k;
        return option;
      }),
    );
    output.addEventListener("change", () => {
      chosen = Number(output.value);
      show();
    });
  }
  at("controls").hidden = false;
  at("no-script").hidden = true;
  show();
})();
