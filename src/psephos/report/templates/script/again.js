// Which answers are shown: as the model gives them, or through the map that its held-out answers justify.
page.again = (() => {
  const { all, data, hub, make } = page,
    maps = data.maps || {};
  const map = () =>
    hub.get("again") && maps[hub.get("model")] ? maps[hub.get("model")].map : null;

  // A model's figures and held-out answers: those that are shown.
  const shown = (key, model) =>
    hub.get("again") && maps[key] && model && model.again ? { ...model, ...model.again } : model;

  // A model's plain form, that answers so.
  const plain = (form) => {
    const one = map();
    return one ? { ...form, readout: { ...form.readout, calibration: one } } : form;
  };

  // Probabilities of the model, as they are shown.
  const through = (chances) => {
    const one = map();
    return one ? openModel.through(one, chances) : chances;
  };

  // Probabilities through the map, where the page advises it and does not show them already; else null.
  const advised = (chances) => {
    const one = maps[hub.get("model")];
    return one && one.advised && !map() ? openModel.through(one.map, chances) : null;
  };

  const follow = (box) => {
    const one = maps[hub.get("model")],
      select = box.querySelector("select"),
      on = Boolean(map());
    select.value = on ? "again" : "";
    select.disabled = !one;
    box.querySelector("span").textContent = !one
      ? " The study has no such map for this model."
      : on
        ? ` ${one.words} A threshold, and every figure of held-out answers, is of these; for a new case the map takes the model fitted to all cases to answer on the same scale.`
        : "";
  };
  const control = () => {
    const box = make("p", "", "note again"),
      label = make("label", "Answers are shown "),
      select = make("select");
    [
      ["", "as the model gives them"],
      ["again", "recalibrated by its held-out answers"],
    ].forEach(([value, words]) => {
      const option = make("option", words);
      option.value = value;
      select.append(option);
    });
    select.dataset.test = "again";
    select.addEventListener("change", () => hub.set("again", select.value === "again"));
    label.append(select);
    box.append(label, make("span"));
    follow(box);
    return box;
  };
  const refresh = () => {
    all(".again").forEach(follow);
    page.words.fill({ again: map() ? " recalibrated" : "" });
  };
  ["model", "again"].forEach((key) => hub.on(key, refresh));
  return { advised, any: Object.keys(maps).length > 0, control, map, plain, shown, through };
})();
