"""Text is told apart from its ground: contrast of 4.5 and more, in the light and in the dark."""

import re
from importlib import resources

import pytest

TEXTS = ("ink", "soft", *(f"c{k}" for k in range(8)))
# what each text stands on somewhere in the page
GROUNDS = dict.fromkeys(("ink", "soft", "c0", "c1"), ("paper", "wash", "posw", "negw"))


def themes():
    css = resources.files("psephos.report").joinpath("templates/style/base.css").read_text("utf-8")
    named = r"(?:--(?=\w+:)|\.(?=c\d \{))(\w+)(?:: | \{\s+color: )"
    colours = re.findall(named + r"light-dark\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\);", css)
    return {
        "light": {name: light for name, light, _ in colours},
        "dark": {name: dark for name, _, dark in colours},
    }


def luminance(colour):
    """Return the relative luminance of WCAG 2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(theme):
    colours = themes()[theme]
    for text in TEXTS:
        for ground in GROUNDS.get(text, ("paper", "wash")):
            a, b = sorted((luminance(colours[text]), luminance(colours[ground])))
            assert (b + 0.05) / (a + 0.05) >= 4.5, (text, ground)
