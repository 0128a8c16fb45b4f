// SamBA's a and b: the toy of Figure 1, and the surface of a model of two columns.
(() => {
  const { at, make, svg } = page,
    { line, near, picture, rect, text } = page.draw,
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

  const path = (points) => "M" + points.map(([x, y]) => `${near(x)} ${near(y)}`).join("L");
  const dot = (kind, x, y, r) => svg("circle", { class: kind, cx: near(x), cy: near(y), r });

  const showLine = () => {
    const toy = toys[chosen.kind],
      box = at("line"),
      width = Math.max(box.clientWidth, 260),
      words = `The weight of a voter over one column, a ${chosen.a}, b ${chosen.b}, ${chosen.kind} training cases`,
      shown = picture(width, 300, words),
      X = (v) => 40 + v * (width - 52),
      Y = (v) => 266 - (v / 0.5) * 250,
      flat = toy.omega.reduce((sum, one) => sum + one, 0) / toy.omega.length,
      places = [...Array.from({ length: 601 }, (_, i) => i / 600), ...toy.x].sort((p, q) => p - q),
      curve = places.map((z) => [X(z), Y(meanRelevance(toy, chosen.a, chosen.b, z))]),
      apart = (x, i) => Math.abs(meanRelevance(toy, chosen.a, chosen.b, x) - toy.omega[i]) > 0.217,
      off = toy.x.filter(apart).length;
    shown.append(
      ...[0, 0.1, 0.2, 0.3, 0.4, 0.5].flatMap((v) => [
        line("grid", 40, width - 12, Y(v)),
        text(34, Y(v) + 4, v.toFixed(1), "soft", "end"),
      ]),
      ...[0, 0.25, 0.5, 0.75, 1].map((v) => text(X(v), 286, String(v), "soft", "middle")),
      line("dash", 40, width - 12, Y(flat)),
      text(width - 14, Y(flat) - 6, "no local knowledge", "soft", "end"),
      ...toy.x.map((x, i) => dot("row", X(x), Y(toy.omega[i]), 2.6)),
      svg("path", { d: path(curve), class: "line" }),
    );
    box.replaceChildren(shown);
    at("line-told").textContent = off
      ? `At ${off} of the 200 cases the mean relevance is nearer to the other one than to the case\u2019s own.`
      : "At every training case the mean relevance is nearer to the case\u2019s own than to the other one.";
  };

  // The square from -1 to 1 on both columns, in pixels of a box of this width.
  const square = (width) => {
    const [left, top] = [34, 8],
      side = width - left - 8;
    return {
      ...{ left, top, side },
      X: (v) => left + ((v + 1) / 2) * side,
      Y: (v) => top + ((1 - v) / 2) * side,
    };
  };
  // The probability of class 1 on a grid of 40 by 40 cells.
  const cells = (one, { left, top, side }) => {
    const n = 40,
      step = side / n,
      middle = (k) => -1 + (2 * (k + 0.5)) / n;
    return Array.from({ length: n * n }, (_, k) => {
      const [i, j] = [Math.floor(k / n), k % n],
        p = one.answer([middle(j), middle(i)]).probabilities[1],
        more = {
          opacity: (0.08 + 0.8 * Math.abs(p - 0.5)).toFixed(3),
          "shape-rendering": "crispEdges",
        };
      return rect(
        p >= 0.5 ? "pos" : "neg",
        left + j * step,
        top + side - (i + 1) * step,
        step,
        step,
        more,
      );
    });
  };
  const showPlane = () => {
    const toy = toys[chosen.kind],
      one = model(toy, chosen.a, chosen.b),
      box = at("plane"),
      width = Math.min(Math.max(box.clientWidth, 260), 560),
      frame = square(width),
      { X, Y } = frame,
      shown = picture(width, frame.side + 34, "What the model calls over two columns"),
      missed = toy.X.map((x, i) => one.answer(x).probabilities[1] >= 0.5 !== (toy.y[i] === 1)),
      kind = (i) => `${toy.y[i] === 1 ? "pos" : "neg"}${missed[i] ? " wrong" : ""}`;
    shown.append(
      ...cells(one, frame),
      ...toy.X.map(([u, v], i) => dot(kind(i), X(u), Y(v), 3.6)),
      ...[-1, 0, 1].flatMap((v) => {
        const words = String(v).replace("-", "\u2212");
        return [
          text(X(v), frame.side + 26, words, "soft", "middle"),
          text(28, Y(v) + 4, words, "soft", "end"),
        ];
      }),
      text(X(0.97), Y(0.9), "class 1", "pos strong halo", "end"),
      text(X(-0.97), Y(0.9), "class 0", "neg strong halo"),
    );
    box.replaceChildren(shown);
    at("plane-told").textContent =
      `With these a and b it answers ${missed.filter(Boolean).length} of the ${toy.X.length} training cases otherwise than their label (ringed). That it agrees with the others is no evidence: each counts most for itself.`;
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
        showLine();
        showPlane();
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
