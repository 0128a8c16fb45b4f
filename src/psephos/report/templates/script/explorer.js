// SamBA's a and b: the toy of Figure 1, and the surface of a model of two columns.
(() => {
  const { at, make, svg } = page,
    toys = page.data.toys;
  const chosen = { kind: "pure", a: 0.02, b: 4 };

  // The mean relevance around z: sum of omega / (a^b + d^b) over sum of 1 / (a^b + d^b).
  const meanRelevance = ({ x, omega }, a, b, z) => {
    const d = x.map((one) => Math.abs(one - z)),
      least = Math.min(...d);
    if (a === 0 && least === 0) {
      const same = omega.filter((_, i) => d[i] === 0);
      return same.reduce((sum, one) => sum + one, 0) / same.length;
    }
    // all sizes by that of the nearest, so that none is beyond the range of numbers
    const unit = Math.max(a, least),
      floor = (a / unit) ** b;
    let top = 0,
      whole = 0;
    d.forEach((one, i) => {
      const s = 1 / (floor + (one / unit) ** b);
      top += s * omega[i];
      whole += s;
    });
    return top / whole;
  };

  // SamBA with another a and b, its voters and training cases as they were fitted.
  const model = (toy, a, b) => {
    const { weights } = toy.plain;
    return openModel({
      ...toy.plain,
      weights: { ...weights, profile: { ...weights.profile, a, b } },
    });
  };
  page.explorer = { meanRelevance, model, toys };

  const text = (x, y, words, anchor = "middle", kind = "soft") =>
    svg("text", { x, y, "text-anchor": anchor, class: kind }, words);
  const path = (points) =>
    "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");

  const line = () => {
    const toy = toys[chosen.kind],
      box = at("line"),
      width = Math.max(box.clientWidth, 260),
      height = 300;
    const X = (v) => 40 + v * (width - 52),
      Y = (v) => height - 34 - (v / 0.5) * (height - 50);
    const picture = svg("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The weight of a voter over one column, a ${chosen.a}, b ${chosen.b}, ${chosen.kind} training cases`,
    });
    [0, 0.1, 0.2, 0.3, 0.4, 0.5].forEach((v) =>
      picture.append(
        svg("line", { x1: 40, x2: width - 12, y1: Y(v), y2: Y(v), class: "grid" }),
        text(34, Y(v) + 4, v.toFixed(1), "end"),
      ),
    );
    [0, 0.25, 0.5, 0.75, 1].forEach((v) => picture.append(text(X(v), height - 14, String(v))));
    const flat = toy.omega.reduce((sum, one) => sum + one, 0) / toy.omega.length;
    picture.append(
      svg("line", { x1: 40, x2: width - 12, y1: Y(flat), y2: Y(flat), class: "dash" }),
      text(width - 14, Y(flat) - 6, "no local knowledge", "end"),
    );
    toy.x.forEach((x, i) =>
      picture.append(
        svg("circle", {
          cx: X(x).toFixed(1),
          cy: Y(toy.omega[i]).toFixed(1),
          r: 2.6,
          class: "row",
        }),
      ),
    );
    const places = [...Array.from({ length: 601 }, (_, i) => i / 600), ...toy.x].sort(
      (p, q) => p - q,
    );
    const curve = places.map((z) => [z, meanRelevance(toy, chosen.a, chosen.b, z)]);
    picture.append(svg("path", { d: path(curve.map(([z, w]) => [X(z), Y(w)])), class: "line" }));
    box.replaceChildren(picture);
    const off = toy.x.filter(
      (x, i) => Math.abs(meanRelevance(toy, chosen.a, chosen.b, x) - toy.omega[i]) > 0.217,
    ).length;
    at("line-told").textContent = off
      ? `At ${off} of the 200 cases the mean relevance is nearer to the other one than to the case\u2019s own.`
      : "At every training case the mean relevance is nearer to the case\u2019s own than to the other one.";
  };

  const plane = () => {
    const toy = toys[chosen.kind],
      one = model(toy, chosen.a, chosen.b),
      box = at("plane");
    const width = Math.min(Math.max(box.clientWidth, 260), 560),
      cells = 40,
      left = 34,
      side = width - left - 8,
      height = side + 34;
    const X = (v) => left + ((v + 1) / 2) * side,
      Y = (v) => 8 + ((1 - v) / 2) * side,
      step = side / cells;
    const picture = svg("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": "What the model calls over two columns",
    });
    for (let i = 0; i < cells; i += 1)
      for (let j = 0; j < cells; j += 1) {
        const u = -1 + (2 * (j + 0.5)) / cells,
          v = -1 + (2 * (i + 0.5)) / cells,
          p = one.answer([u, v]).probabilities[1];
        picture.append(
          svg("rect", {
            x: (left + j * step).toFixed(2),
            y: (8 + side - (i + 1) * step).toFixed(2),
            width: step.toFixed(2),
            height: step.toFixed(2),
            "shape-rendering": "crispEdges",
            class: p >= 0.5 ? "pos" : "neg",
            opacity: (0.08 + 0.8 * Math.abs(p - 0.5)).toFixed(3),
          }),
        );
      }
    let wrong = 0;
    toy.X.forEach(([u, v], i) => {
      const miss = one.answer([u, v]).probabilities[1] >= 0.5 !== (toy.y[i] === 1);
      wrong += miss;
      picture.append(
        svg("circle", {
          cx: X(u).toFixed(1),
          cy: Y(v).toFixed(1),
          r: 3.6,
          class: `${toy.y[i] === 1 ? "pos" : "neg"}${miss ? " wrong" : ""}`,
        }),
      );
    });
    [-1, 0, 1].forEach((v) =>
      picture.append(
        text(X(v), height - 8, String(v).replace("-", "\u2212")),
        text(left - 6, Y(v) + 4, String(v).replace("-", "\u2212"), "end"),
      ),
    );
    picture.append(
      text(X(0.97), Y(0.9), "class 1", "end", "pos strong halo"),
      text(X(-0.97), Y(0.9), "class 0", "start", "neg strong halo"),
    );
    box.replaceChildren(picture);
    at("plane-told").textContent =
      `With these a and b it answers ${wrong} of the ${toy.X.length} training cases otherwise than their label (ringed). That it agrees with the others is no evidence: each counts most for itself.`;
  };

  let waiting = 0;
  const show = () => {
    at("a-told").textContent = String(chosen.a);
    at("b-told").textContent = String(chosen.b);
    at("kind").value = chosen.kind;
    at("a").value = String(chosen.a);
    at("b").value = String(chosen.b);
    if (!waiting)
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        line();
        plane();
      });
  };
  at("kind").addEventListener("change", () => {
    chosen.kind = at("kind").value;
    show();
  });
  ["a", "b"].forEach((name) =>
    at(name).addEventListener("input", () => {
      chosen[name] = Number(at(name).value);
      show();
    }),
  );
  [
    [0, 1.5],
    [0, 4],
    [0.02, 1.5],
    [0.02, 4],
  ].forEach(([a, b]) => {
    const button = make("button", `a ${a}, b ${b}`);
    button.type = "button";
    button.addEventListener("click", () => {
      Object.assign(chosen, { a, b });
      show();
    });
    document.querySelector(".buttons").append(button);
  });
  at("controls").hidden = false;
  addEventListener("resize", show);
  show();
})();
