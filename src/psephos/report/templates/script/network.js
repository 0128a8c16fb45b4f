(() => {
  const { all, at } = page;
  // ---- the network: thresholds hide circles, lines and rows; a circle names the columns it is linked to
  const nodes = all('[data-test="node"]');
  if (nodes.length) {
    const lines = all('[data-test="pair"]'),
      nodeRows = all('[data-test="node-row"]'),
      pairRows = all('[data-test="pair-row"]');
    const panel = at("network-panel"),
      sum = at("network-count");
    const sliders = { column: at("least-column"), pair: at("least-pair") };
    const parts = (element) => [Number(element.dataset.first), Number(element.dataset.second)];
    const away = (element) => element.classList.contains("away");
    const set = (element, hidden) => element.classList.toggle("away", hidden);
    const light = (chosen) => {
      nodeRows.forEach((row, j) => row.classList.toggle("here", j === chosen));
      lines.forEach((line) => line.classList.toggle("lit", parts(line).includes(chosen)));
    };
    const filter = () => {
      const least = Object.fromEntries(
        Object.entries(sliders).map(([key, slider]) => {
          at(`least-${key}-words`).textContent = slider.value + " %";
          return [key, Number(slider.value) / 100 - 1e-9]; // a share of exactly the threshold stays
        }),
      );
      [nodes, nodeRows].forEach((list) =>
        list.forEach((one) => set(one, Number(one.dataset.share) < least.column)),
      );
      [lines, pairRows].forEach((list) =>
        list.forEach((one) =>
          set(
            one,
            Number(one.dataset.share) < least.pair || parts(one).some((j) => away(nodes[j])),
          ),
        ),
      );
      const shown = (list) => list.filter((one) => !away(one)).length;
      sum.textContent = `${shown(nodes)} of ${nodes.length} columns and ${shown(lines)} of ${lines.length} pairs are shown.`;
    };
    const say = (words, chosen) => {
      panel.hidden = false;
      panel.textContent = words;
      light(chosen);
    };
    nodes.forEach((node, j) => {
      ["mouseenter", "focus", "click"].forEach((event) =>
        node.addEventListener(event, () => say(node.getAttribute("aria-label"), j)),
      );
      node.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        const left = nodes.filter((one) => !away(one));
        event.preventDefault();
        left[(left.indexOf(node) + step + left.length) % left.length].focus();
      });
    });
    lines.forEach((line) =>
      line.addEventListener("mouseenter", () => say(line.querySelector("title").textContent, -1)),
    );
    Object.values(sliders).forEach((slider) => slider.addEventListener("input", filter));
    all(".threshold").forEach((button) =>
      button.addEventListener("click", () => {
        Object.values(sliders).forEach((slider) => {
          slider.value = button.dataset.share;
        });
        filter();
      }),
    );
    at("network-controls").hidden = sum.hidden = false;
    filter();
  }
})();
