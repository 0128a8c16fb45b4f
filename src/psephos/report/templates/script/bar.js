// The bar that stays in view: the model and the threshold of the whole page.
(() => {
  const { all, at, data, hub } = page;
  all(".scripted").forEach((element) => {
    element.hidden = false;
  });
  all(".unscripted").forEach((element) => {
    element.hidden = true;
  });
  at("scripts-off").hidden = true;
  page.offerPictures(document);

  const model = at("model"),
    cls = at("cls");
  if (model) {
    model.addEventListener("change", () => hub.set("model", model.value));
    hub.on("model", (key) => {
      model.value = key;
      all(".stays").forEach((one) => {
        one.hidden = key === data.first.model;
      });
    });
  }
  if (cls) {
    cls.addEventListener("change", () => hub.set("cls", Number(cls.value)));
    hub.on("cls", (code) => {
      cls.value = String(code);
    });
  }

  // where the reader is, in the contents
  const links = all("nav a");
  const seen = new IntersectionObserver(
    (entries) =>
      entries
        .filter((one) => one.isIntersecting)
        .forEach((one) =>
          links.forEach((link) => {
            if (link.getAttribute("href") === "#" + one.target.id)
              link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
          }),
        ),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  all("header[id], main > section[id]").forEach((part) => seen.observe(part));
})();
