// Accuracy against columns: a mark or a row chooses the model of the page.
(() => {
  const { all, hub, make } = page;
  const rows = all("#results tbody tr");
  rows.forEach((row) => {
    const head = row.cells[0],
      button = make("button", head.textContent.trim(), "plain");
    button.type = "button";
    button.dataset.test = "choose";
    head.replaceChildren(button);
    row.addEventListener("click", () => hub.set("model", row.dataset.model));
  });
  const marks = all(".mark"),
    own = all(".own");
  marks.forEach((mark) =>
    mark.addEventListener("click", () => hub.set("model", mark.dataset.model)),
  );
  const show = (key) => {
    rows.forEach((row) => {
      row.classList.toggle("chosen", row.dataset.model === key);
      row.querySelector("button").setAttribute("aria-pressed", String(row.dataset.model === key));
    });
    [marks, own].forEach((list) =>
      list.forEach((one) => one.classList.toggle("chosen", one.dataset.model === key)),
    );
  };
  hub.on("model", show);
  show(hub.get("model"));
})();
