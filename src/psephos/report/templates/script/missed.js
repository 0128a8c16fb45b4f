// Whom it misses: the threshold and all that follows it.
(() => {
  const { all, at, hub, make, words } = page;
  const told = page.data.missed;
  page.setThreshold = () => {};
  if (!told || !at("missed-body") || !at("lanes")) return;
  at("lanes-figure").hidden = at("curves").hidden = false;
  if (at("pictures")) at("pictures").hidden = false; // before its lanes measure their width
  const two = told.kind === "two",
    UNIT = 1e6;
  const cutOf = (t) => Math.floor(t * UNIT + 1e-3); // as `psephos.figures.in_millionths`
  const pos = told.classes[told.positive],
    neg = two ? told.classes[1 - told.positive] : "others";
  const model = () => page.again.shown(hub.get("model"), told.models[hub.get("model")]);
  const own = () => (told.models[hub.get("model")] || {}).own; // the threshold of least cost
  const first = () => (own() || { at: told.threshold }).at;
  const named = (i) => (told.names ? told.names[i] : String((told.rows ? told.rows[i] : i) + 1));
  const rowOf = (i) => (told.rows ? told.rows[i] : i);
  const placeOf = new Map((told.rows || []).map((row, i) => [row, i]));
  // The thresholds of a model: where its table has all answers any, in thousandths; else those of the table.
  const nearest = (t) => {
    const m = model(),
      every = !m || m.absent || (m.curves.every && !told.edges);
    if (t === first()) return t;
    if (every) return Math.round(Math.min(Math.max(t, 0), 1) * 1000) / 1000;
    const steps = told.edges || m.curves.at.map((u) => u / UNIT);
    return steps.reduce((a, b) => (Math.abs(b - t) < Math.abs(a - t) ? b : a));
  };

  // ---- figures of a threshold: its row in the table of the model
  const rowAt = (m, t) => m.curves.at.filter((u) => u >= cutOf(t)).length;
  const counts = (m, t) => {
    const [found, alarms] = m.curves.steps[rowAt(m, t)];
    return { found, missed: m.m - found, alarms, cleared: m.n - alarms };
  };
  const endOf = (v) => (v === null ? NaN : v / 100);
  // Of cases that were counted the value, and the ends of its interval, which are in hundredths.
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
    const value = expit(odds + Math.log(right / hits) - Math.log(wrong / others));
    const add = Math.min(right, wrong, hits - right, others - wrong) === 0 ? 0.5 : 0;
    const a = (right + add) / (hits + 2 * add),
      b = (wrong + add) / (others + 2 * add);
    const middle = odds + Math.log(a) - Math.log(b);
    const half =
      Z * Math.sqrt((1 - a) / (a * (hits + 2 * add)) + (1 - b) / (b * (others + 2 * add)));
    return [value, Math.min(expit(middle - half), value), Math.max(expit(middle + half), value)];
  };
  const predictive = (n, share) => {
    const m = n.found + n.missed,
      k = n.alarms + n.cleared;
    const odds = Math.log(share / (1 - share));
    return [predicted(n.found, n.alarms, m, k, odds), predicted(n.cleared, n.missed, k, m, -odds)];
  };

  // ---- tables
  const fillBody = (id, rows) => {
    if (at(id)) at(id).tBodies[0].replaceChildren(...rows);
  };
  let prevalence = null;
  const measures = (m, n, t) => {
    const ends = m.ends[rowAt(m, t)],
      shown = four(n).map((pair, j) => figure([...pair, ends[2 * j], ends[2 * j + 1]]));
    if (prevalence !== null) shown.splice(2, 2, ...predictive(n, prevalence)); // of no share, no value
    const rows = [
      ["sensitivity", `${pos} found`],
      ["specificity", `${neg} cleared`],
      ["PPV", `called ${pos} are`],
      ["NPV", `called ${neg} are`],
    ];
    fillBody(
      "measures",
      four(n).map(([k, of], j) => {
        const [value, low, high] = shown[j],
          [name, what] = rows[j],
          cells = [name, words.of(k, of, what), words.rate(value), words.span(low, high)],
          row = page.row(cells, ["", ""]);
        const strip = make("td", "", "drawn k-bar");
        row.dataset.test = "measure";
        strip.append(page.bar([value, low, high]));
        row.append(strip);
        return row;
      }),
    );
    [
      ["n-tp", n.found],
      ["n-fn", n.missed],
      ["n-fp", n.alarms],
      ["n-tn", n.cleared],
    ].forEach(([id, k]) => {
      at(id).textContent = String(k);
    });
  };

  // In how many groups cases are, and beside counts of cases those groups: "" without any.
  const groupsOf = (places) => new Set(places.map((i) => told.units.of[i])).size;
  const nounOf = (n) => told.units.noun[n === 1 ? 0 : 1];
  const inGroups = (m, which) => {
    if (!told.units || !m.q) return "";
    const every = m.q.map((_, i) => i).filter((i) => m.q[i] >= 0),
      own = every.filter(which),
      n = groupsOf(every);
    return own.length ? `, in ${words.of(groupsOf(own), n, nounOf(n))}` : "";
  };
  const wrongIn = (m, t) => ({
    missed_in: inGroups(m, (i) => told.truth[i] === told.positive && m.q[i] < cutOf(t)),
    alarms_in: inGroups(m, (i) => told.truth[i] !== told.positive && m.q[i] >= cutOf(t)),
  });

  // ---- lanes
  const classKind = (c) => (two ? (c === told.positive ? "pos" : "neg") : `c${c % 8}`);
  const lanesOf = (m, order, about) =>
    order.map((c) => {
      const lane = { name: told.classes[c], kind: classKind(c) };
      if (m.bins) {
        if (!two) return { ...lane, bins: m.bins[about][c] };
        const [...bins] = c === told.positive ? m.bins.pos : m.bins.neg,
          last = bins.pop(); // 1 is in the last column
        return {
          ...lane,
          bins: bins.map((n, b) => (b === bins.length - 1 ? n + last : n)),
          ends: told.edges,
        };
      }
      const q = two ? m.q : m.P[about],
        mine = told.truth
          .map((_, i) => i)
          .filter((i) => told.truth[i] === c && (two ? q[i] >= 0 : m.said[i] >= 0));
      const cut = cutOf(hub.get("threshold")),
        n = told.units ? groupsOf(mine) : 0;
      return {
        ...lane,
        beside: n ? ` of ${words.count(n)} ${nounOf(n)}` : "",
        at: mine,
        units: mine.map((i) => q[i]),
        wrong: mine.map((i) => (two ? q[i] >= cut !== (c === told.positive) : m.said[i] !== c)),
      };
    });
  let ground = null;
  const drawLanes = () => {
    const m = model(),
      first = at("first-lanes");
    if (first) first.replaceChildren();
    if (!m || m.absent) return;
    if (first) lanesIn(first, m);
    const drawn = lanesIn(at("lanes"), m);
    ground = drawn.ground;
    if (at("binned")) at("binned").hidden = drawn.tallest === 0;
    words.fill({ tallest: String(drawn.tallest) });
    if (two) {
      at("under").style.setProperty("padding-left", `${Math.max(ground.left - 8, 0)}px`);
      at("under").style.setProperty("padding-right", `${Math.max(ground.right - 8, 0)}px`);
    }
  };
  const lanesIn = (box, m) => {
    const about = two ? told.positive : hub.get("cls");
    const order = [about, ...told.classes.map((_, c) => c).filter((c) => c !== about)];
    const t = hub.get("threshold"),
      n = two ? counts(m, t) : null,
      inside = two ? wrongIn(m, t) : {},
      width = Math.max(box.clientWidth, 280);
    const drawn = page.lanes.draw(width, lanesOf(m, order, about), {
      axis: `${m.axis} for ${told.classes[about]}, ${told.wording.axis}`,
      threshold: two ? t : null,
      counts: two
        ? [
            [`${words.count(n.missed)} missed${inside.missed_in}`, `${words.count(n.found)} found`],
            [
              `${words.count(n.cleared)} cleared`,
              words.plural(n.alarms, "false alarm") + inside.alarms_in,
            ],
          ]
        : [],
      sides: [`called ${neg}`, `called ${pos}`],
      person: placeOf.has(hub.get("person")) ? placeOf.get(hub.get("person")) : -1,
    });
    box.replaceChildren(drawn.picture);
    box.setAttribute(
      "aria-label",
      (told.rows
        ? `Every case by its ${told.wording.answer}, one lane a class.`
        : `Cases counted by their ${told.wording.answer}, one lane a class.`) +
        (two
          ? ` ${words.of(n.found, n.found + n.missed, pos)} found, ${words.of(n.missed, n.found + n.missed, pos)} missed, ${words.of(n.cleared, n.alarms + n.cleared, neg)} cleared, ${words.of(n.alarms, n.alarms + n.cleared, neg)} false alarms.`
          : ""),
    );
    return drawn;
  };

  // ---- lists of mistakes, the surest first; beside each the values of the most important columns, and its groups
  const beside = (groups) => {
    const values = page.data.values,
      one = values && values.rows.length ? values.models[hub.get("model")] : null,
      places = new Map((one ? values.rows : []).map((row, i) => [row, i]));
    const columns = (one ? one.columns.slice(0, 3) : []).map((column) => ({
      ...column,
      text: (i) => {
        const place = places.get(rowOf(i));
        return place === undefined ? "\u2013" : page.axis.write(values.of[column.whole][place]);
      },
    }));
    const parted = groups ? told.groups.filter((group) => group.of).slice(0, 2) : [];
    return [
      ...columns,
      ...parted.map((group) => ({
        ...group,
        text: (i) => (group.of[i] < 0 ? "\u2013" : group.levels[group.of[i]]),
      })),
    ];
  };
  const tableOf = (own, caption, cells, groups) => {
    const more = beside(groups),
      one = make("table", "", "fit"),
      head = make("thead"),
      body = make("tbody"),
      box = make("div", "", "scroll"),
      kinds = ["", ...cells.map(([, , kind]) => kind || "")];
    one.append(make("caption", caption, "sr"), head, body);
    const titles = more.map((column) => page.axis.titled(column, "th", "num"));
    titles.forEach((cell) => {
      cell.scope = "col";
    });
    head.append(page.row(["case", ...cells.map(([text]) => text), ...titles], kinds, true));
    own.forEach((i) => {
      const button = make("button", named(i), "plain");
      button.type = "button";
      button.dataset.at = i;
      button.addEventListener("click", () => hub.set("person", rowOf(i)));
      const texts = [...cells, ...more.map(({ text }) => ["", text])].map(([, text]) => text(i));
      body.append(page.row([button, ...texts], kinds));
    });
    box.append(one);
    return box;
  };
  const listOf = (kind, places, heading, cells, groups) => {
    const box = make("div");
    box.dataset.kind = kind;
    box.append(make("h3", heading, "apart"));
    if (!places.length) return box;
    const first = tableOf(places.slice(0, 6), heading, cells, groups),
      rest = places.slice(6, 206);
    first.firstChild.dataset.test = `${kind}-list`;
    box.append(first);
    if (rest.length) {
      const more = make("details"),
        text = `The other ${words.count(places.length - 6)}${places.length > 206 ? ", of which 200 are listed" : ""}`;
      more.append(make("summary", text));
      more.addEventListener("toggle", () => {
        if (more.open && more.children.length < 2) more.append(tableOf(rest, text, cells, groups));
      });
      box.append(more);
    }
    return box;
  };
  const lists = (m, t) => {
    if (!m.q) {
      at("mistakes").replaceChildren();
      return;
    }
    const cut = cutOf(t),
      every = m.q.map((_, i) => i).filter((i) => m.q[i] >= 0),
      cells = [["answer", (i) => words.chance(m.q[i] / UNIT), "num"]];
    const missed = every
      .filter((i) => told.truth[i] === told.positive && m.q[i] < cut)
      .sort((a, b) => m.q[a] - m.q[b] || a - b);
    const alarms = every
      .filter((i) => told.truth[i] !== told.positive && m.q[i] >= cut)
      .sort((a, b) => m.q[b] - m.q[a] || a - b);
    at("mistakes").replaceChildren(
      listOf(
        "missed",
        missed,
        missed.length
          ? `The ${words.count(missed.length)} missed ${pos}, surest mistakes first`
          : `No ${pos} case is missed`,
        cells,
        true,
      ),
      listOf(
        "alarms",
        alarms,
        alarms.length
          ? `The ${words.plural(alarms.length, "false alarm")}`
          : "There is no false alarm",
        cells,
        true,
      ),
    );
  };

  const severalLists = (m) => {
    if (!m.P) {
      at("mistakes").replaceChildren();
      return;
    }
    const sure = (i) => m.P[m.said[i]][i],
      wrong = told.truth
        .map((_, i) => i)
        .filter((i) => m.said[i] >= 0 && m.said[i] !== told.truth[i])
        .sort((a, b) => sure(b) - sure(a) || a - b);
    const cells = [
      ["is", (i) => told.classes[told.truth[i]]],
      ["called", (i) => told.classes[m.said[i]]],
      ["answer", (i) => words.chance(sure(i) / UNIT), "num"],
    ];
    at("mistakes").replaceChildren(
      listOf(
        "wrong",
        wrong,
        wrong.length
          ? `The ${words.plural(wrong.length, "case")} called another class, surest mistakes first`
          : "No case is called another class",
        cells,
        false,
      ),
    );
  };

  // ---- groups
  const share = (one) => {
    const [k, n] = one,
      [value, low, high] = figure(one),
      interval = words.span(low, high),
      cell = make("td", words.of(k, n));
    if (n < 10) return cell;
    cell.textContent += `: ${words.rate(value)}${interval ? ` (${interval})` : ""}`;
    if (interval) cell.append(page.bar([value, low, high], 152, 8, 3, "under-text"));
    return cell;
  };
  const groups = (m) => {
    if (!at("group") || !m.groups) return;
    const which = Number(at("group").value),
      { name, levels } = told.groups[which];
    at("group-name").textContent = name;
    fillBody(
      "groups",
      m.groups[which].map(([n, ...cells], k) => {
        return page.row([levels[k], words.count(n), ...cells.map(share)]);
      }),
    );
  };

  // ---- a person, chosen anywhere
  const person = () => {
    const i = placeOf.get(hub.get("person")),
      m = model(),
      panel = at("person");
    panel.hidden = i === undefined || !m || Boolean(m.absent) || Boolean(m.bins);
    if (panel.hidden) return;
    const about = two ? told.positive : hub.get("cls"),
      u = two ? m.q[i] : m.P[about][i],
      t = hub.get("threshold");
    const said = two ? (u >= cutOf(t) ? pos : neg) : told.classes[m.said[i]];
    const answered = two ? u >= 0 : m.said[i] >= 0;
    panel.textContent =
      `Case ${named(i)} is ${told.classes[told.truth[i]]}. ` +
      (answered
        ? `${told.wording.person} ${m.label} answered ${words.chance(u / UNIT)} for ${told.classes[about]} and called it ${said}.`
        : `${m.label} has no ${told.wording.answer} to it.`);
    all("button[data-at]", at("mistakes")).forEach((button) =>
      button.closest("tr").classList.toggle("chosen", Number(button.dataset.at) === i),
    );
  };

  // ---- what moves
  const followThreshold = () => {
    const m = model(),
      t = hub.get("threshold");
    if (!m || m.absent) return;
    drawLanes();
    if (!two) return;
    const n = counts(m, t),
      { of } = words,
      called = n.found + n.alarms,
      every = called + n.missed + n.cleared;
    words.fill({
      threshold: words.threshold(t),
      found: of(n.found, n.found + n.missed, pos),
      missed: of(n.missed, n.found + n.missed, pos),
      cleared: of(n.cleared, n.alarms + n.cleared, neg),
      alarms: of(n.alarms, n.alarms + n.cleared, neg),
      ...wrongIn(m, t),
      more: !called
        ? `; it calls nobody ${pos}`
        : called === every
          ? `; it calls everyone ${pos}`
          : `; of the ${words.count(called)} it calls ${pos}, ${words.count(n.found)} are`,
    });
    measures(m, n, t);
    page.curves.marks(m.curves, t, n);
    lists(m, t);
    person();
    const slider = at("slider");
    slider.value = t;
    slider.setAttribute(
      "aria-valuetext",
      `${words.threshold(t)}: misses ${of(n.missed, n.found + n.missed, pos)}, alarms ${of(n.alarms, n.alarms + n.cleared, neg)}`,
    );
  };
  const followModel = () => {
    const m = model();
    const absent = !m || m.absent;
    at("missed-body").hidden = Boolean(absent);
    at("missed-absent").hidden = !absent;
    if (at("cost")) at("cost").hidden = Boolean(absent);
    if (absent) {
      at("missed-absent").textContent = m ? m.absent : told.wording.absent;
      return;
    }
    words.fill({ model: m.label, axis: m.axis });
    at("missed-note").textContent = m.note;
    if (two) {
      page.curves.show(m.curves, m.axis);
      fillBody(
        "tenths",
        m.tenths.map((row) => page.row(row)),
      );
      groups(m);
      const t = hub.get("threshold");
      if (nearest(t) !== t) page.setThreshold(t);
      followThreshold();
    } else followClass();
  };
  const followClass = () => {
    const m = model(),
      c = hub.get("cls");
    if (!m || m.absent) return;
    words.fill({
      cls: told.classes[c],
      pos: told.classes[c],
      right: `${m.right} of ${m.n}`,
      cost: m.cost[c],
      cost_in: m.cost_in[c],
    });
    page.curves.show(m.curves[c], m.axis);
    const most = Math.max(...m.grid.flatMap((row, is) => row.filter((_, j) => j !== is))),
      often = (k) => (2 * k >= most ? " miss" : ""); // a box stands around frequent mistakes alone
    fillBody(
      "grid",
      m.grid.map((row, is) =>
        page.row(
          [told.classes[is], ...row.map(String)],
          ["", ...row.map((k, j) => "num" + (!k ? " nil" : j === is ? " hit" : often(k)))],
        ),
      ),
    );
    fillBody(
      "by-class",
      m.rows.map((row) =>
        page.row(
          row,
          row.map((_, j) => (j === 0 ? "" : [3, 6, 7, 8].includes(j) ? "num k-wide" : "num")),
        ),
      ),
    );
    drawLanes();
    severalLists(m);
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

  let waiting = 0;
  const soon = (call) => {
    if (!waiting)
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        call();
      });
  };
  let last = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== last) {
      last = innerWidth;
      soon(drawLanes);
    }
  });
  ["beforeprint", "afterprint"].forEach((event) => addEventListener(event, drawLanes));

  at("lanes").addEventListener("click", (event) => {
    const dot = event.target.closest("[data-at]");
    if (dot) hub.set("person", rowOf(Number(dot.dataset.at)));
  });
  if (two) {
    hub.on("threshold", () => soon(followThreshold));
    // two fields spell the threshold: while either holds no number, what follows from it is not shown
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
      at(id).addEventListener("blur", () => {
        if (at(id).validity.valid) spell(null);
      });
    });
    at("slider").addEventListener("input", () => page.setThreshold(Number(at("slider").value)));
    at("prevalence").addEventListener("input", () => {
      const share = page.typed(at("prevalence"), 0.01, 99.99, { empty: "the share here" });
      prevalence = share === null ? null : share === undefined ? NaN : share / 100;
      followThreshold();
    });
    at("find-most").addEventListener("click", () => {
      const m = model(), // the highest threshold that still finds nine tenths
        t = m.curves.at[m.curves.steps.findIndex(([found]) => found >= 0.9 * m.m) - 1];
      page.setThreshold(m.curves.every ? Math.floor(t / 1000) / 1000 : t / UNIT);
    });
    at("back").addEventListener("click", () => page.setThreshold(first()));
    if (at("half")) at("half").addEventListener("click", () => page.setThreshold(0.5));
    if (at("group")) at("group").addEventListener("change", () => groups(model()));
    let dragging = false;
    const drag = (event) =>
      page.setThreshold(
        (event.clientX - at("lanes").getBoundingClientRect().left - ground.left) / ground.inner,
      );
    at("lanes").addEventListener("pointerdown", (event) => {
      if (!event.target.classList.contains("drag")) return;
      dragging = true;
      at("lanes").setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    at("lanes").addEventListener("pointermove", (event) => {
      if (dragging) drag(event);
    });
    ["pointerup", "pointercancel"].forEach((end) =>
      at("lanes").addEventListener(end, () => {
        dragging = false;
      }),
    );
  }

  // ---- files of every case, and of every threshold
  if (told.rows)
    page
      .offer(
        at("lanes-figure").querySelector("figcaption"),
        told.wording.file,
        () => {
          const m = model(),
            t = hub.get("threshold");
          if (!two)
            return [
              ["case", "is", ...told.classes, "called"],
              ...told.truth.map((c, i) => [
                named(i),
                told.classes[c],
                ...m.P.map((q) => (m.said[i] < 0 ? "" : q[i] / UNIT)),
                m.said[i] < 0 ? "" : told.classes[m.said[i]],
              ]),
            ];
          return [
            ["case", "is", m.axis + " for " + pos, "called from " + words.threshold(t)],
            ...m.q.map((u, i) => [
              named(i),
              told.classes[told.truth[i]],
              u < 0 ? "" : u / UNIT,
              u < 0 ? "" : u >= cutOf(t) ? pos : neg,
            ]),
          ];
        },
        "Every case as CSV",
      )
      .classList.add("cases-csv");
  if (two)
    page.offer(
      at("curves"),
      "curves",
      () => {
        const m = model();
        return [
          ["threshold", "found", "missed", "false alarms", "cleared"],
          ...m.curves.at.map((u) => [u / UNIT, ...Object.values(counts(m, u / UNIT))]),
        ];
      },
      "Thresholds as CSV",
    );
  followModel();
})();
