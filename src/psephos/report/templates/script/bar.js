// The bar that stays visible: the model and the threshold of the whole page.
(() => {
  const { all, at, data, hub } = page;
  const show = (query, hidden) => all(query).forEach((one) => (one.hidden = hidden));
  show(".scripted, #pictures, #beside", false);
  show(".unscripted, #scripts-off", true);
  page.offerPictures(document);

  at("model")?.addEventListener("change", ({ target }) => hub.set("model", target.value));
  at("cls")?.addEventListener("change", ({ target }) => hub.set("cls", Number(target.value)));
  const follow = () => {
    const key = hub.get("model");
    if (at("model")) at("model").value = key;
    show(".stays", key === data.first.model && !hub.get("again"));
  };
  ["model", "again"].forEach((one) => hub.on(one, follow));
  hub.on("cls", (code) => {
    at("cls").value = String(code);
  });

  // marks the current part in the contents
  const links = all("nav a");
  const mark = ({ target }) =>
    links.forEach((link) => {
      link.ariaCurrent = link.hash === `#${target.id}` ? "true" : null;
    });
  const seen = new IntersectionObserver(
    (entries) => entries.filter((one) => one.isIntersecting).forEach(mark),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  all("header[id], main > section[id]").forEach((part) => seen.observe(part));
})();
