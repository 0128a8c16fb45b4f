// SamBA's a and b: the toy of Figure 1.
(() => {
  const { at, make, svg } = page,
    { line, near, picture, text } = page.draw,
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

  page.explorer = { meanRelevance, toys };

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
