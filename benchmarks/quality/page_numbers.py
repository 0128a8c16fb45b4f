"""Are the numbers of a study's page true? They are read in Chromium and computed again.

    python benchmarks/quality/page_numbers.py FOLDER [--table FILE] [--models A B] [--cases 50]

Without psephos: report.html is opened at 1,400 px, each model chosen in turn, all parts unfolded,
and each printed number for which there is a rule below is compared with predictions.csv,
results.csv, permuted.csv and the table, by scikit-learn, scipy and the formulas of
`_page_figures.py`. Printed are, per panel, how many numbers were read, recomputed and apart (each
with both values and its sentence), and what was not recomputed. Then values are typed into the
page's fields, drawn for 50 cases a model (from the column's range and beyond it, its categories, or
missing), and class and probability are compared with `psephos predict` on the same rows.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from _page_figures import Study
from _page_rules import AtThreshold, PanelRules, plain, searched
from _page_sentences import of_text
from playwright.sync_api import sync_playwright

NUMBER = re.compile(r"[<>]?[−+-]?(?<![\w.])\d+(?:\.\d+)?(?:e[−+-]?\d+)?(?![\w]*[A-Za-z_])")
READ = r"""() => {
  const KINDS = "h1,h2,h3,h4,p,li,dt,dd,figcaption,summary,text,option,legend";
  const tidy = (s) => s.replace(/(?<=\d)\u202f(?=\d)/g, "").replace(/\s+/g, " ").trim();
  const panel = (e) => e.closest("section")?.id || "first screen";
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), blocks = new Map();
  for (let n; (n = walk.nextNode()); ) {
    const e = n.parentElement, option = e.closest("option");
    if (!n.data.trim() || e.closest("script,style,template,noscript,table,#model")) continue;
    if (!(option ? option.closest("select") : e).checkVisibility()) continue;
    const block = e.closest(KINDS) || e;
    blocks.set(block, (blocks.get(block) || "") + n.data);
  }
  const texts = [...blocks].map(([e, text]) => ({ panel: panel(e), text: tidy(text),
    column: e.closest("[data-column]")?.dataset.column || "" }));
  const tables = [...document.querySelectorAll("table")].filter((t) => t.checkVisibility())
    .map((t) => ({ panel: panel(t), test: t.dataset.test || t.id, caption: tidy(t.caption?.textContent || ""),
      rows: [...t.rows].map((r) => [...r.cells].map((c) => tidy(c.textContent))) }));
  return { texts, tables };
}"""  # noqa: E501
TYPE = """([at, value]) => {
  const field = document.getElementById(`field-${at}`);
  field.value = field.tagName === "SELECT" && value !== "" ? `=${value}` : value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
STATE = """() => {
  const rows = [...document.querySelectorAll("[data-test=field]")],
    answer = document.querySelector("[data-test=case-answer], [data-test=number-answer]"),
    refused = document.querySelector("[data-test=case-unanswered]");
  return { start: document.getElementById("case-from")?.value || "",
    columns: rows.map((r) => r.dataset.column),
    levels: rows.map((r) => { const s = r.querySelector("select");
      return s ? [...s.options].map((o) => o.value.slice(1)).filter(Boolean) : null; }),
    values: rows.map((r) => { const s = r.querySelector("select, input[type=text]");
      return s.tagName === "SELECT" ? s.value.slice(1) : s.value; }),
    text: answer?.textContent || "", refused: refused?.textContent || "",
    value: answer?.dataset.probability ?? answer?.dataset.value ?? null };
}"""


FOLLOWS = """(t) => [...document.querySelectorAll("[data-test=missed-words]")]
  .every((p) => p.textContent.includes(` from ${t}`))"""


class Sheet:
    """The counts of numbers by panel: read, recomputed, apart, and left."""

    def __init__(self):
        self.read, self.done = Counter(), Counter()
        self.apart, self.left, self.seen = [], defaultdict(Counter), set()

    def add(self, panel, where, text, found):
        """Count the numbers of a text and compare those found: (printed, own value)."""
        key = (panel, where.split(": ")[-1], text, tuple(str(own) for _, own in found))
        if key in self.seen:  # the same of another model
            return
        self.seen.add(key)
        done = 0
        for printed, own in found:
            if own is None:
                continue
            done += 1
            if not same(printed, own):
                self.apart.append((panel, where, printed, own, text))
        n = max(len(NUMBER.findall(text)), done)
        self.read[panel] += n
        self.done[panel] += done
        if n > done:
            pattern = re.sub(r"\d+(\.\d+)?", "#", text)[:70]
            self.left[panel][f"{where.split(': ')[-1]}: {pattern}"[:110]] += n - done

    def show(self):
        """Print the counts."""
        print(f"{'panel':<14}{'read':>8}{'recomputed':>12}{'apart':>7}")
        apart = Counter(one[0] for one in self.apart)
        for panel, n in self.read.items():
            print(f"{panel:<14}{n:>8}{self.done[panel]:>12}{apart[panel]:>7}")
        print(f"{'all':<14}{self.read.total():>8}{self.done.total():>12}{len(self.apart):>7}")
        for panel, where, printed, own, text in self.apart:
            value = f"{own:.6g}" if isinstance(own, float) else own
            print(f"  apart: {panel}, {where}: page {printed}, own {value} | {text[:150]}")
        for panel, left in self.left.items():
            top = left.most_common(12)
            print(f"  not recomputed in {panel} ({left.total()} numbers of {len(left)} kinds):")
            for words, n in top:
                print(f"    {n:>6}  {words}")


def same(printed, own):
    """Return whether a printed number is a value, rounded to the decimals that it shows."""
    printed = printed.replace("\u2212", "-").replace(",", "")
    if isinstance(own, str):
        return printed == own
    if printed in ("–", ""):
        return not np.isfinite(own)
    if not np.isfinite(own):
        return False
    if printed == "<0.01":
        return own < 0.005 + 1e-9
    if printed == ">0.99":
        return own > 0.995 - 1e-9
    value = float(printed)
    digits = len(printed.partition("e")[0].partition(".")[2]) - int(printed.partition("e")[2] or 0)
    return abs(value - own) <= 0.5 * 10.0**-digits * (1 + 1e-9) + 1e-9 * max(1, abs(own))


def opened(browser, folder):
    """Return the tab of a study's page."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto((Path(folder).resolve() / "report.html").as_uri())
    tab.wait_for_selector("#model")
    return tab


def read_page(tab):
    """Return the visible texts and tables, all parts unfolded."""
    tab.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    tab.evaluate("() => new Promise((d) => requestAnimationFrame(() => setTimeout(d, 50)))")
    page, state = tab.evaluate(READ), tab.evaluate(STATE)
    return {**page, "fields": state}


def compare_page(sheet, study, key, page, threshold=0.5, only=None):
    """Compare all that rules know of what is shown; `only`: of these panels."""
    rules = PanelRules(study, key, page, threshold)
    for table in page["tables"]:
        if only and table["panel"] not in only:
            continue
        known = dict(rules.of_table(table))
        for i, row in enumerate(table["rows"]):
            where = f"{key}: table {table['test'] or table['caption'][:30]}"
            if not i:
                sheet.add(table["panel"], where, " | ".join(row), known.get(0, []))
                continue
            sheet.add(table["panel"], where, " | ".join(row), known.get(i, []))
        caption = f"{key}: caption {table['caption'][:30]}"
        sheet.add(table["panel"], caption, table["caption"], of_text(rules, table))
    for text in page["texts"]:
        if not only or text["panel"] in only:
            sheet.add(text["panel"], f"{key}: text", text["text"], of_text(rules, text))


def compare_numbers(tab, study, models, sheet):
    """Compare the page of each model, every division into groups, and two other thresholds."""
    for key in models:
        tab.select_option("#model", key)
        compare_page(sheet, study, key, read_page(tab))
        groups = tab.locator("#group")
        about = tab.locator("#cls")
        for i in range(about.locator("option").count() if about.count() else 0):
            about.select_option(index=i)
            compare_page(sheet, study, key, read_page(tab), only={"missed", "first screen"})
        if groups.count() and groups.is_visible():
            names = groups.locator("option").all_inner_texts()
            for i in range(len(names)):
                groups.select_option(index=i)
                compare_page(sheet, study, key, read_page(tab), only={"missed"})
        field = tab.locator("[data-test=threshold-number]")
        if field.count() and study.classes and len(study.classes) == 2:
            for t in (0.3, 0.72):
                field.fill(str(t))
                field.press("Enter")
                tab.wait_for_function(FOLLOWS, arg=f"{t:.2f}")
                compare_page(sheet, study, key, read_page(tab), t, {"missed"})
            field.fill("0.5")
            field.press("Enter")
            tab.wait_for_function(FOLLOWS, arg="0.50")


# ---------------------------------------------------------------------- the live model
def drawn_value(rng, column, levels):
    """Return a text to type: a category, a number of the range or a fifth beyond, or nothing."""
    if rng.random() < 0.15:
        return ""
    if levels:
        return str(rng.choice(levels))
    values = pd.to_numeric(column).dropna().to_numpy(float)
    low, high = values.min(), values.max()
    if rng.random() < 0.3:
        return f"{rng.choice(values):.12g}"
    more = 0.2 * (high - low) if rng.random() < 0.15 else 0.0
    return f"{rng.uniform(low - more, high + more):.6g}"


def typed_cases(tab, study, n_cases, rng):
    """Return the states of the page's fields and its answers for changed cases."""
    found = []
    begin = tab.evaluate(STATE)
    starts = tab.locator("#case-from option").count()
    for _ in range(n_cases if begin["columns"] else 0):
        if starts:
            tab.select_option("#case-from", index=int(rng.integers(starts)))
        state = tab.evaluate(STATE)
        places = rng.permutation(len(state["columns"]))[:14]
        for at in places.tolist():
            text = drawn_value(rng, study.table[state["columns"][at]], state["levels"][at])
            tab.evaluate(TYPE, [at, text])
        found.append(tab.evaluate(STATE))
    return found


def predicted(study, key, states):
    """Return what `psephos predict` says of the values in the fields."""
    command = shutil.which("psephos", path=str(Path(sys.executable).parent)) or "psephos"
    with tempfile.TemporaryDirectory() as box:
        rows, out = Path(box) / "rows.csv", Path(box) / "out.csv"
        table = pd.DataFrame([one["values"] for one in states], columns=states[0]["columns"])
        table.to_csv(rows, index=False)
        model = study.folder / str(study.refits.loc[key, "file"])
        call = [command, "predict", str(model), str(rows), "--out", str(out)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"psephos predict failed: {done.stderr}")
        return pd.read_csv(out, keep_default_na=False)


def compare_live(tab, study, models, n_cases, positive):
    """Print how far the page's live model is from the command, a line a model."""
    print(f"{'model':<30}{'cases':>6}{'class differs':>14}{'most apart':>12}{'text apart':>11}")
    for key in models:
        if key not in study.refits.index or not isinstance(study.refits.loc[key, "file"], str):
            continue
        tab.select_option("#model", key)
        read_page(tab)
        states = typed_cases(tab, study, n_cases, np.random.default_rng(41))
        if not states:
            print(f"{key:<30}{'no fields':>10}")
            continue
        answers = predicted(study, key, states)
        wrong, off, text, worst = 0, 0.0, 0, []
        for state, (_, row) in zip(states, answers.iterrows(), strict=True):
            differs, apart, printed = one_case(study, state, row, positive)
            wrong, off, text = wrong + differs, max(off, apart), text + printed
            if differs or apart > 1e-6 or printed:
                worst.append((apart, state, row.to_dict()))
        print(f"{key:<30}{len(states):>6}{wrong:>14}{off:>12.2g}{text:>11}")
        for apart, state, row in sorted(worst, key=lambda one: -one[0])[:2]:
            fields = dict(zip(state["columns"], state["values"], strict=True))
            shown = dict(list(fields.items())[:16])
            print(f"    apart by {apart:.3g}: page {state['text']!r} {state['value']}, {row}")
            print(f"      typed {shown}")


def one_case(study, state, row, positive):
    """Return whether the class differs, by how much the figure does, and whether its text does."""
    answered = str(row.get("answered", "True")).lower() == "true"
    if state["text"] == "No answer" or state["value"] is None or not answered:
        return (state["text"] == "No answer") == answered, 0.0, False
    if study.classes is None:
        own = float(row["predicted"])
        return False, abs(float(state["value"]) - own), False
    called = plain(searched(r"called (.*)$", state["text"])[1])
    label = str(row["predicted"])
    about = positive if positive is not None else called
    own = float(row[f"probability_{about}"])
    printed = state["text"].split(" ")[0]
    return called != label, abs(float(state["value"]) - own), not same(printed, own)


def main():
    """Run both parts on one study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--table", help="the table that the study was made from")
    parser.add_argument("--models", nargs="*", help="only these models")
    parser.add_argument("--cases", type=int, default=50, help="changed cases a model")
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    args = parser.parse_args()
    study, sheet = Study(args.folder, args.table), Sheet()
    models = args.models or study.models
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=args.chromium, args=flags)
        tab = opened(browser, args.folder)
        wrong = []
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        compare_numbers(tab, study, models, sheet)
        sheet.show()
        if args.cases and study.table is not None:
            two = study.classes and len(study.classes) == 2
            positive = AtThreshold.positive_of(study, read_page(tab)) if two else None
            compare_live(tab, study, models, args.cases, positive)
        print(f"errors of the page's script: {wrong or 'none'}")
        browser.close()


if __name__ == "__main__":
    main()
