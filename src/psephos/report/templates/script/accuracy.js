// Accuracy against columns: a mark or a row chooses the model of the page.
(() => {
  const { all, at, data, hub, make, svg } = page;
  const draw = (width) => page.pareto.draw(data.chart, hub.get("model"), width);
  const hosts = [at("chart").firstElementChild, at("first-chart")].filter(Boolean);
  hosts.forEach((host, i) => {
    host.append(page.axis.chart(draw, i ? 344 : 620));
    host.addEventListener("click", ({ target }) => {
      const mark = target.closest(".mark");
      if (mark) hub.set("model", mark.dataset.model);
    });
  });
  at("chart").hidden = false;
  if (at("pictures")) at("pictures").hidden = false;
  // differences from the best: middle, low and high as parts of the axis; beyond its ends an arrow
  const { line, tip } = page.draw;
  all("[data-bar]").forEach((cell) => {
    const [mean, low, high] = cell.dataset.bar.split(" ").map(Number),
      x = (v) => 60 * (1 + Math.min(Math.max(v, -1), 1)),
      box = svg("svg", { width: 120, height: 14, "aria-hidden": "true" });
    box.append(line("axis", 60, 60, 0, 14), line("interval", x(low), x(high), 7));
    if (low < -1) box.append(tip(0, 7, -1, 0));
    if (high > 1) box.append(tip(120, 7, 1, 0));
    if (Math.abs(mean) <= 1) box.append(svg("circle", { class: "dot", cx: x(mean), cy: 7, r: 3 }));
    cell.append(box);
  });
  const rows = all("#results tbody tr");
  rows.forEach((row) => {
    const head = row.cells[0],
      button = make("button", head.textContent.trim(), "plain");
    button.type = "button";
    button.dataset.test = "choose";
    head.replaceChildren(button);
    row.addEventListener("click", () => hub.set("model", row.dataset.model));
  });
  const show = (key) => {
    rows.forEach((row) => {
      row.classList.toggle("chosen", row.dataset.model === key);
      row.querySelector("button").setAttribute("aria-pressed", String(row.dataset.model === key));
    });
    hosts.forEach(page.axis.again);
  };
  hub.on("model", show);
  show(hub.get("model"));
})();
