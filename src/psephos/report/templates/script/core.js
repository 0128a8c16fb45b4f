"use strict";
// What every part of the page uses: the data, making elements, writing numbers, and the hub.
const page = (() => {
  const at = (id) => document.getElementById(id);
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const make = (tag, text = "", kind = "") => {
    const element = document.createElement(tag);
    element.textContent = text; // never markup: strings of the data stay strings
    if (kind) element.className = kind;
    return element;
  };
  const svg = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...children);
    return element;
  };

  // The hub: what the reader has chosen. `hub.on("threshold", f)` calls f(value) at every change of
  // it; `hub.set("threshold", 0.3)` changes it. Keys: model (its key), threshold (0 to 1), person
  // (a row of the table of cases, or null), cls (the class that answers are about, of several).
  const data = JSON.parse(at("data").textContent);
  const chosen = { ...data.first };
  const listeners = {};
  const hub = {
    get: (key) => chosen[key],
    on: (key, call) => { (listeners[key] = listeners[key] || []).push(call); },
    set: (key, value) => {
      if (chosen[key] === value) return;
      chosen[key] = value;
      (listeners[key] || []).forEach((call) => call(value));
    },
  };
  // What was typed into a field of text: a number from low to high, null for nothing, or undefined,
  // and the field then says what it takes. A field of the type "number" drops a comma: 0,5 is 5 there.
  const typed = (field, low, high) => {
    const word = field.value.trim(), value = word ? Number(word) : null;
    const right = !word || (/^\+?(\d+\.?\d*|\.\d+)$/.test(word) && value >= low && value <= high);
    field.setCustomValidity(right ? "" : `A number from ${low} to ${high}, with a point as in 0.5.`);
    if (!right) field.reportValidity();
    return right ? value : undefined;
  };
  return { data, at, all, make, svg, hub, typed };
})();
