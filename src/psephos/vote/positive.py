"""The default positive class: one rule for validations and pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# usual names of the negative class
_ABSENT = {
    "absent", "alive", "benign", "control", "controls", "disease-free", "false", "healthy", "live",
    "living", "n", "neg", "negative", "no", "non-case", "non-diseased", "noncase", "nondiseased",
    "none", "normal", "not ill", "survived", "survivor", "unaffected", "well", "0", "-1",
    "nein", "gesund", "negativ", "kontrolle", "non", "sain", "négatif", "negatif", "témoin", "sano",
    "sana", "negativo", "não", "nao", "saudável", "nee", "gezond", "negatief", "controle",
    "nie", "zdrowy", "zdrowa", "brak", "ujemny", "nej", "frisk", "ei", "terve", "ne", "nem",
    "zdravý", "hayır", "hayir", "yok", "sağlıklı", "kontrol", "нет", "здоров",
}  # fmt: skip
_ABSENT_PARTS = {"benign", "control", "controls", "healthy", "normal", "unaffected"}


@dataclass(frozen=True)
class Positive:
    """The positive class, and the rule that chose it."""

    code: int
    rule: str


def usual_positive(classes: Sequence[str], sizes: Sequence[int]) -> Positive:
    """Return the positive class by default.

    If one of two classes has a usual name of a negative class (healthy, control, benign, alive,
    no, 0), or alone has such a word in its name (adjacent benign), it is the other one; else it is
    the class with the fewest cases, of equals the last.

    Parameters
    ----------
    classes : sequence of str
    sizes : sequence of int
        Number of cases of each class; empty if unknown: then it is the last class.
    """
    absent = [name.strip().lower() in _ABSENT for name in classes]
    if not any(absent):
        parts = [set(re.findall(r"\w+", name.lower())) for name in classes]
        absent = [bool(own & _ABSENT_PARTS) for own in parts]
    if len(classes) == 2 and sum(absent) == 1:
        name = classes[absent.index(True)]
        return Positive(absent.index(False), f"“{name}” is a usual word for its absence")
    if not sizes:
        return Positive(len(classes) - 1, "it is the last")
    least = min(sizes)
    code = max(k for k, n in enumerate(sizes) if n == least)
    alike = list(sizes).count(least) > 1
    return Positive(code, "it is the last of the rarest" if alike else "it is the rarest")
