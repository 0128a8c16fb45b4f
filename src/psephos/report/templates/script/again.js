// The predictions shown: those of the model, or recalibrated by a map fitted to its held-out predictions.
page.again = (() => {
  const { all, data, hub, make } = page,
    maps = data.maps || {};
  const map = () => (hub.get("again") && maps[hub.get("model")]?.map) || null;

  // The figures and held-out predictions of a model that are shown.
  const shown = (key, model) =>
    hub.get("again") && maps[key] && model?.again ? { ...model, ...model.again } : model;

  // The plain form of a model, with the map if it is chosen.
  const plain = (form) =>
    map() ? { ...form, readout: { ...form.readout, calibration: map() } } : form;

  // Probabilities of the model as they are shown.
  const through = (chances) => (map() ? openModel.through(map(), chances) : chances);

  // Recalibrated probabilities, if the page advises them and does not show them already; else null.
  const advised = (chances) => {
    const one = maps[hub.get("model")];
    return one?.advised && !map() ? openModel.through(one.map, chances) : null;
  };

  // The class predicted from probabilities: for two classes at the threshold.
  const called = (chances) => {
    if (chances.length > 2) return chances.indexOf(Math.max(...chances));
    const { positive } = data.values;
    return chances[positive] >= hub.get("threshold") ? positive : 1 - positive;
  };

  const follow = (box) => {
    const one = maps[hub.get("model")],
      select = box.querySelector("select"),
      note = map()
        ? ` ${one.words} The threshold and all figures of held-out answers use these; for a new case it is assumed that the model fitted to all cases answers on the same scale as those of the folds.`
        : "";
    select.value = map() ? "again" : "";
    select.disabled = !one;
    box.lastChild.textContent = one ? note : " The study has no such map for this model.";
  };
  const control = () => {
    const options = [
        make("option", "as the model gives them", { value: "" }),
        make("option", "recalibrated by its held-out answers", { value: "again" }),
      ],
      onchange = ({ target }) => hub.set("again", target.value === "again"),
      select = make("select", options, { onchange, data: { test: "again" } }),
      box = make("p", [make("label", ["Answers are shown ", select]), make("span")], "note again");
    follow(box);
    return box;
  };
  const refresh = () => {
    all(".again").forEach(follow);
    page.words.fill({ again: map() ? " recalibrated" : "" });
  };
  ["model", "again"].forEach((key) => hub.on(key, refresh));
  const any = Object.keys(maps).length > 0;
  return { advised, any, called, control, map, plain, shown, through };
})();
