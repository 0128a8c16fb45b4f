// Misclassified cases: the threshold, and everything that depends on it.
(() => {
  const { all, at, button, fillBody, hub, make, row, words } = page,
    study = page.data.missed;
  page.setThreshold = () => {};
  if (!study || !at("missed-body")) return;
  if (!at("lanes")) {
    hub.on("model", (key) => {
      const other = `psephos report --model ${key} shows the cases that ${key} misses.`;
      at("missed-absent").textContent = study.models[key]?.absent || other;
    });
    return;
  }
  at("lanes-figure").hidden = at("curves").hidden = false;
  const { chart, hues, titled, write } = page.axis,
    { of, count, plural } = words,
    { classes, positive, truth } = study,
    two = study.kind === "two",
    hue = hues(positive, classes.length),
    UNIT = 1e6,
    pos = classes[positive],
    neg = two ? classes[1 - positive] : "others";
  const cutOf = (t) => Math.floor(t * UNIT + 1e-3); // as `psephos.figures.in_millionths`
  const model = () => page.again.shown(hub.get("model"), study.models[hub.get("model")]);
  const own = () => study.models[hub.get("model")]?.own; // the threshold of least cost
  const first = () => (own() || { at: study.threshold }).at;
  const about = () => (two ? positive : hub.get("cls")); // the class that figures are about
  const rowOf = (i) => (study.rows ? study.rows[i] : i);
  const named = (i) => (study.names ? study.names[i] : String(rowOf(i) + 1));
  const placeOf = new Map((study.rows || []).map((row, i) => [row, i]));
  // The thresholds of a model: any thousandth if its table has all predictions; else those of the table.
  const nearest = (t) => {
    const m = model(),
      every = !m || m.absent || (m.curves.every && !m.edges);
    if (t === first()) return t;
    if (every) return Math.round(Math.min(Math.max(t, 0), 1) * 1000) / 1000;
    const steps = m.edges ? m.edges.slice(0, -1) : m.curves.at.map((u) => u / UNIT);
    return steps.reduce((a, b) => (Math.abs(b - t) < Math.abs(a - t) ? b : a));
  };

  // ---- the cases of a model: those with a prediction, their predicted classes, and the wrong ones
  const answersOf = (m) => (two ? m.q : m.P[about()]);
  const calledOf = (m, i, cut = cutOf(hub.get("threshold"))) => {
    if (two) return m.q[i] >= cut ? positive : 1 - positive;
    return m.said[i];
  };
  const knownOf = (m) => {
    const answers = (two ? m.q : m.said) || [];
    return truth.flatMap((_, i) => (answers[i] >= 0 ? [i] : []));
  };
  const wrongOf = (m) => knownOf(m).filter((i) => calledOf(m, i) !== truth[i]);

  // ---- figures at a threshold: its row in the model's table
  const rowAt = (m, t) => m.curves.at.filter((u) => u >= cutOf(t)).length;
  const counts = (m, t) => {
    const [found, alarms] = m.curves.steps[rowAt(m, t)];
    return { found, missed: m.m - found, alarms, cleared: m.n - alarms };
  };
  const endOf = (v) => (v === null ? NaN : v / 100);
  // The value of a share of counted cases, and the ends of its interval, in hundredths.
  const figure = ([k, n, low, high]) => [k / n, endOf(low), endOf(high)];
  const four = (n) => [
    [n.found, n.found + n.missed],
    [n.cleared, n.alarms + n.cleared],
    [n.found, n.found + n.alarms],
    [n.cleared, n.cleared + n.missed],
  ];
  const expit = (z) => 1 / (1 + Math.exp(-z));
  const predicted = (right, wrong, hits, others, odds) => {
    const Z = 1.959963984540054;
    if (right + wrong === 0 || !hits || !others) return [NaN, NaN, NaN];
    const value = expit(odds + Math.log(right / hits) - Math.log(wrong / others)),
      add = Math.min(right, wrong, hits - right, others - wrong) === 0 ? 0.5 : 0,
      [n, k] = [hits + 2 * add, others + 2 * add],
      [a, b] = [(right + add) / n, (wrong + add) / k],
      middle = odds + Math.log(a) - Math.log(b),
      half = Z * Math.sqrt((1 - a) / (a * n) + (1 - b) / (b * k));
    return [value, Math.min(expit(middle - half), value), Math.max(expit(middle + half), value)];
  };
  const predictive = (n, share) => {
    const m = n.found + n.missed,
      k = n.alarms + n.cleared,
      odds = Math.log(share / (1 - share));
    return [predicted(n.found, n.alarms, m, k, odds), predicted(n.cleared, n.missed, k, m, -odds)];
  };

  let prevalence = null;
  const measures = (m, n, t) => {
    const ends = m.ends[rowAt(m, t)],
      here = prevalence === null ? "" : " in this study",
      shown = four(n).map((pair, j) => figure([...pair, ends[2 * j], ends[2 * j + 1]]));
    if (prevalence !== null) shown.splice(2, 2, ...predictive(n, prevalence)); // no value without a prevalence
    const heads = [
      ["sensitivity", `${pos} found`],
      ["specificity", `${neg} cleared`],
      ["PPV", `called ${pos} are${here}`],
      ["NPV", `called ${neg} are${here}`],
    ];
    const rows = four(n).map(([k, whole], j) => {
      const [value, low, high] = shown[j],
        [name, what] = heads[j],
        strip = make("td", page.bar(shown[j]), "drawn k-bar"),
        cells = [name, of(k, whole, what), words.rate(value), words.span(low, high), strip],
        line = row(cells, ["", ""]);
      line.dataset.test = "measure";
      return line;
    });
    fillBody("measures", rows);
    const cells = { "n-tp": n.found, "n-fn": n.missed, "n-fp": n.alarms, "n-tn": n.cleared };
    Object.entries(cells).forEach(([id, k]) => (at(id).textContent = String(k)));
  };

  // The number of groups of some cases, as words beside counts of cases; "" without groups.
  const groupsOf = (places) => new Set(places.map((i) => study.units.of[i])).size;
  const nounOf = (n) => study.units.noun[n === 1 ? 0 : 1];
  const wrongIn = (m) => {
    const inGroups = (c) => {
      const mine = (places) => groupsOf(places.filter((i) => truth[i] === c)),
        wrong = study.units && m.q ? mine(wrongOf(m)) : 0,
        n = wrong && mine(knownOf(m));
      return wrong ? `, in ${of(wrong, n, nounOf(n))}` : "";
    };
    return { missed_in: inGroups(positive), alarms_in: inGroups(1 - positive) };
  };

  // ---- lanes
  const laneOf = (m, c) => {
    const lane = { name: classes[c], kind: hue[c] };
    if (m.bins && !two) return { ...lane, bins: m.bins[about()][c] };
    if (m.bins) {
      const bins = c === positive ? m.bins.pos : m.bins.neg,
        last = bins.length - 2; // 1 is in the last column
      const counted = bins.slice(0, -1).with(last, bins[last] + bins[last + 1]);
      return { ...lane, ends: m.edges, bins: counted };
    }
    const at = knownOf(m).filter((i) => truth[i] === c),
      n = study.units ? groupsOf(at) : 0;
    return {
      ...lane,
      at,
      beside: n ? ` of ${count(n)} ${nounOf(n)}` : "",
      units: at.map((i) => answersOf(m)[i]),
      wrong: at.map((i) => calledOf(m, i) !== c),
    };
  };
  // The counts at a threshold beside the lanes, and their summary in words.
  const stated = (m, t) => {
    const n = counts(m, t),
      inside = wrongIn(m),
      [ill, well] = [n.found + n.missed, n.alarms + n.cleared];
    return {
      threshold: t,
      counts: [
        [`${count(n.missed)} missed${inside.missed_in}`, `${count(n.found)} found`],
        [`${count(n.cleared)} cleared`, plural(n.alarms, "false alarm") + inside.alarms_in],
      ],
      sides: [`called ${neg}`, `called ${pos}`],
      words: ` ${of(n.found, ill, pos)} found, ${of(n.missed, ill, pos)} missed, ${of(n.cleared, well, neg)} cleared, ${of(n.alarms, well, neg)} called ${pos}.`,
    };
  };
  let ground = null;
  const lanesIn = (width, box) => {
    const m = model();
    if (!m || m.absent) return make("span");
    const c = about(),
      order = [c, ...classes.map((_, k) => k).filter((k) => k !== c)],
      more = two ? stated(m, hub.get("threshold")) : { words: "" },
      what = study.rows ? "Every case by its" : "Cases counted by their",
      axis = `${m.axis} for ${classes[c]}, ${study.wording.axis}`,
      lanes = order.map((k) => laneOf(m, k)),
      chosen = placeOf.get(hub.get("person")) ?? -1,
      drawn = page.lanes.draw(Math.max(width, 280), lanes, { ...more, axis, person: chosen });
    box.ariaLabel = `${what} ${study.wording.answer}, one lane a class.${more.words}`;
    if (box.id === "lanes") {
      ground = drawn.ground;
      if (at("binned")) at("binned").hidden = drawn.tallest === 0;
      words.fill({ tallest: String(drawn.tallest) });
      const aside = [ground.left, ground.right].map((v) => `${Math.max(v - 8, 0)}px`);
      if (two) at("under").style.padding = `0 ${aside[1]} 0 ${aside[0]}`;
    }
    return drawn.picture;
  };
  const boxes = [at("first-lanes"), at("lanes")].filter(Boolean),
    drawLanes = () => boxes.forEach((box) => page.axis.again(box));
  boxes.forEach((box) =>
    box.append(chart((width) => lanesIn(width, box), box.id === "lanes" ? 660 : 320)),
  );

  // ---- lists of mistakes, the most confident first, with the values of the most important columns and the group
  const beside = () => {
    const values = page.data.values,
      one = values?.rows.length ? values.models[hub.get("model")] : null,
      places = new Map(one && values.rows.map((row, i) => [row, i]));
    const columns = (one ? one.columns.slice(0, 3) : []).map((column) => {
      const value = (i) => {
        const place = places.get(rowOf(i));
        return place === undefined ? "\u2013" : values.of[column.whole][place];
      };
      return { ...column, texts: (own) => own.map((i) => write(value(i))) };
    });
    const parted = study.groups
      .filter((group) => group.of)
      .slice(0, 2)
      .filter(({ name }) => columns.every(({ whole }) => whole !== name));
    return [
      ...columns,
      ...parted.map(({ name, of, levels }) => ({
        name,
        texts: (own) => own.map((i) => levels[of[i]]),
      })),
    ];
  };
  const tableOf = (own, caption, cells) => {
    const more = beside(),
      kinds = ["", ...cells.map(([, , kind]) => kind || "")],
      titles = more.map((one) => titled(one, "th", { className: "num", scope: "col" })),
      heads = ["case", ...cells.map(([text]) => text), ...titles];
    const columns = [
      ...cells.map(([, text]) => own.map(text)),
      ...more.map((one) => one.texts(own)),
    ];
    const rows = own.map((i, n) => {
      const pick = button(named(i), () => hub.set("person", rowOf(i)), "plain", { at: i });
      return row([pick, ...columns.map((texts) => texts[n])], kinds);
    });
    return page.table(caption, heads, rows, kinds);
  };
  const listOf = ([kind, places, heading, cells]) => {
    if (!places.length) return [make("p", heading)];
    const first = tableOf(places.slice(0, 6), heading, cells),
      rest = places.slice(6, 206),
      text = `The other ${rest.length === 1 ? "one" : count(places.length - 6)}${places.length > 206 ? ", of which 200 are listed" : ""}`,
      more = page.folded(text);
    first.firstChild.dataset.test = `${kind}-list`;
    more.addEventListener("toggle", () => {
      if (more.open && more.children.length < 2) more.append(tableOf(rest, text, cells));
    });
    return rest.length ? [first, more] : [first];
  };
  const surest = ({ length }) =>
    length > 1 ? `, ${length > 6 ? "the 6 " : ""}surest mistakes first` : "";
  const lists = (m) => {
    if (!m.q && !m.P) return [];
    const sure = (i) => (two ? m.q[i] : m.P[m.said[i]][i]),
      answer = ["answer", (i) => words.chance(sure(i) / UNIT), "num"],
      wrong = wrongOf(m).sort((a, b) => sure(b) - sure(a) || a - b);
    if (!two) {
      const cells = [
        ["is", (i) => classes[truth[i]]],
        ["called", (i) => classes[m.said[i]]],
        answer,
      ];
      const heading = wrong.length
        ? `${plural(wrong.length, "case")} called another class${surest(wrong)}`
        : "No case is called another class";
      return [["wrong", wrong, heading, cells]];
    }
    const alarms = wrong.filter((i) => truth[i] !== positive),
      missed = wrong
        .filter((i) => truth[i] === positive)
        .sort((a, b) => sure(a) - sure(b) || a - b),
      ill = missed.length
        ? `${plural(missed.length, `missed ${pos} case`)}${surest(missed)}`
        : `No ${pos} case is missed`,
      well = alarms.length
        ? `${plural(alarms.length, "false alarm")}${surest(alarms)}`
        : "There is no false alarm";
    return [
      ["missed", missed, ill, [answer]],
      ["alarms", alarms, well, [answer]],
    ];
  };
  const listed = (m) => at("mistakes").replaceChildren(...lists(m).flatMap(listOf));

  // ---- groups
  const share = (one) => {
    const [k, n] = one,
      [value, low, high] = figure(one),
      interval = words.span(low, high),
      cell = make("td", of(k, n));
    if (n < 10) return cell;
    cell.append(`: ${words.rate(value)}${interval ? ` (${interval})` : ""}`);
    const bar = page.bar([value, low, high], { width: 152, height: 8, r: 3 });
    if (interval) cell.append(make("div", bar));
    return cell;
  };
  const groups = (m) => {
    if (!at("group") || !m.groups) return;
    const which = Number(at("group").value),
      { name, levels } = study.groups[which];
    at("group-name").textContent = name;
    const rows = m.groups[which].map(([n, ...cells], k) =>
      row([levels[k], count(n), ...cells.map(share)]),
    );
    fillBody("groups", rows);
  };

  // ---- a case chosen anywhere on the page
  const person = () => {
    const i = placeOf.get(hub.get("person")),
      m = model(),
      panel = at("person");
    panel.hidden = i === undefined || !m || Boolean(m.absent) || Boolean(m.bins);
    if (panel.hidden) return;
    const answer = words.chance(answersOf(m)[i] / UNIT),
      answered = knownOf(m).includes(i)
        ? `${study.wording.person} ${m.label} answered ${answer} for ${classes[about()]} and called it ${classes[calledOf(m, i)]}.`
        : `${m.label} has no ${study.wording.answer} to it.`;
    panel.textContent = `Case ${named(i)} is ${classes[truth[i]]}. ${answered}`;
    all("button[data-at]", at("mistakes")).forEach((one) =>
      one.closest("tr").classList.toggle("chosen", Number(one.dataset.at) === i),
    );
  };

  // ---- what depends on the threshold
  const followThreshold = () => {
    const m = model(),
      t = hub.get("threshold");
    if (!m || m.absent) return;
    drawLanes();
    const n = counts(m, t),
      [ill, well] = [n.found + n.missed, n.alarms + n.cleared],
      called = n.found + n.alarms,
      missed = of(n.missed, ill, pos),
      alarms = of(n.alarms, well, neg);
    let more = `; it calls ${count(called)} ${pos}, ${count(n.found)} rightly`;
    if (!called) more = `; it calls nobody ${pos}`;
    else if (called === ill + well) more = `; it calls everyone ${pos}`;
    const [found, cleared] = [of(n.found, ill, pos), of(n.cleared, well, neg)],
      threshold = words.threshold(t);
    words.fill({ threshold, found, missed, cleared, alarms, more, ...wrongIn(m) });
    measures(m, n, t);
    page.curves.show(m.curves, m.axis, { t, n, words: threshold });
    listed(m);
    person();
    at("slider").value = t;
    at("slider").ariaValueText = `${threshold}: misses ${missed}, alarms ${alarms}`;
  };
  const followModel = () => {
    const m = model(),
      absent = !m || m.absent;
    at("missed-body").hidden = Boolean(absent);
    at("missed-absent").hidden = !absent;
    if (at("cost")) at("cost").hidden = Boolean(absent);
    drawLanes();
    if (absent) {
      at("missed-absent").textContent = m ? m.absent : study.wording.absent;
      return;
    }
    words.fill({ model: m.label });
    at("missed-note").textContent = m.note;
    if (!two) return followClass();
    fillBody(
      "tenths",
      m.tenths.map((one) => row(one)),
    );
    groups(m);
    const t = hub.get("threshold");
    if (nearest(t) !== t) page.setThreshold(t);
    followThreshold();
  };
  const followClass = () => {
    const m = model(),
      c = hub.get("cls");
    if (!m || m.absent) return;
    const [name, right] = [classes[c], `${m.right} of ${m.n}`];
    words.fill({ cls: name, pos: name, right, cost: m.cost[c], cost_in: m.cost_in[c] });
    page.curves.show(m.curves[c], m.axis);
    const most = Math.max(...m.grid.flatMap((row, is) => row.filter((_, j) => j !== is))),
      often = (k) => (2 * k >= most ? " miss" : ""), // frequent mistakes are framed
      kindOf = (k, hit) => `num${!k ? " nil" : hit ? " hit" : often(k)}`;
    const grid = m.grid.map((one, is) =>
      row(
        [classes[is], ...one.map(String)],
        ["", ...one.map((k, called) => kindOf(k, called === is))],
      ),
    );
    fillBody("grid", grid);
    const kinds = m.rows[0].map((_, j) => (j ? "num" : ""));
    fillBody(
      "by-class",
      m.rows.map((one) => row(one, kinds)),
    );
    drawLanes();
    listed(m);
    person();
  };
  let opened = first();
  const followFirst = () => {
    if (hub.get("threshold") === opened) page.setThreshold(first());
    opened = first();
    words.fill({ own: own() ? own().words : "", first: words.threshold(opened) });
  };
  if (two) hub.on("model", followFirst);
  ["model", "again"].forEach((key) => hub.on(key, followModel));
  if (page.again.any) at("again-here").replaceChildren(page.again.control());
  hub.on("person", () => {
    drawLanes();
    person();
  });
  if (!two) hub.on("cls", followClass);
  at("lanes").addEventListener("click", (event) => {
    const dots = event.target.matches(".drag") ? [] : all("[data-at]", at("lanes")),
      dot = page.nearest(dots, event);
    if (dot) hub.set("person", rowOf(Number(dot.dataset.at)));
  });

  // ---- the threshold, in two fields; while one of them is not a number, dependent figures are hidden
  const spelt = {
    threshold: (t) => words.threshold(t),
    weight: (t) => {
      if (own() && t === own().at) return own().cost;
      return t > 0 ? Number(((1 - t) / t).toPrecision(2)) : "";
    },
  };
  const spell = (own = document.activeElement) =>
    Object.entries(spelt).forEach(([id, write]) => {
      if (at(id) !== own) at(id).value = write(hub.get("threshold"));
    });
  const hold = (held) => document.body.classList.toggle("held", held);
  const steer = () => {
    page.setThreshold = (t) => {
      Object.keys(spelt).forEach((id) => page.refuse(at(id), ""));
      hold(false);
      hub.set("threshold", nearest(t));
      spell();
    };
    [
      ["threshold", 0, 1, (t) => t],
      ["weight", 0.01, 999, (k) => (own() && k === own().cost ? own().at : 1 / (1 + k))],
    ].forEach(([id, low, high, of]) => {
      at(id).addEventListener("input", () => {
        const value = page.typed(at(id), low, high);
        if (value === undefined) hold(true);
        else page.setThreshold(of(value));
      });
      at(id).addEventListener("blur", () => at(id).validity.valid && spell(null));
    });
    at("slider").addEventListener("input", () => page.setThreshold(Number(at("slider").value)));
    at("prevalence").addEventListener("input", () => {
      const share = page.typed(at("prevalence"), 0.01, 99.99, "the share here");
      prevalence = share === null ? null : share === undefined ? NaN : share / 100;
      followThreshold();
    });
    const findMost = () => {
      const m = model(), // the highest threshold with a sensitivity of at least nine tenths
        t = m.curves.at[m.curves.steps.findIndex(([found]) => found >= 0.9 * m.m) - 1];
      page.setThreshold(m.curves.every ? Math.floor(t / 1000) / 1000 : t / UNIT);
    };
    at("find-most").addEventListener("click", findMost);
    at("back").addEventListener("click", () => page.setThreshold(first()));
    at("half")?.addEventListener("click", () => page.setThreshold(0.5));
    at("group")?.addEventListener("change", () => groups(model()));
  };
  const dragged = () => {
    const lanes = at("lanes");
    lanes.addEventListener("pointerdown", (event) => {
      if (!event.target.classList.contains("drag")) return;
      lanes.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    lanes.addEventListener("pointermove", (event) => {
      const left = lanes.getBoundingClientRect().left + ground.left;
      if (lanes.hasPointerCapture(event.pointerId))
        page.setThreshold((event.clientX - left) / ground.inner);
    });
  };
  if (two) {
    hub.on("threshold", page.soon(followThreshold));
    steer();
    dragged();
  }

  // ---- a file of all cases
  const everyCase = () => {
    const m = model(),
      known = new Set(knownOf(m)),
      heads = two
        ? [`${m.axis} for ${pos}`, `called from ${words.threshold(hub.get("threshold"))}`]
        : [...classes, "called"],
      answers = (i) => (two ? [m.q] : m.P).map((one) => one[i] / UNIT),
      cells = (i) =>
        known.has(i) ? [...answers(i), classes[calledOf(m, i)]] : heads.map(() => "");
    return [["case", "is", ...heads], ...truth.map((c, i) => [named(i), classes[c], ...cells(i)])];
  };
  const caption = at("lanes-figure").querySelector("figcaption");
  if (study.rows) page.offer(caption, study.wording.file, everyCase, "Every case as CSV");
  followModel();
})();
