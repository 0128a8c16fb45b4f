"""What a column is in a network: a hub, a secondary hub, a synonym, or an occasional guest."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shares", "roles"]

_Floats = NDArray[np.float64]
_ALIKE = 0.5


class Shares(Protocol):
    """What roles are read off: see `psephos.explain.ColumnNetwork`."""

    @property
    def names(self) -> list[str]:
        """Return the columns, the most used first."""
        ...

    @property
    def weight(self) -> _Floats:
        """Return the share of the models that read each, shape (q,)."""
        ...

    @property
    def joint(self) -> _Floats:
        """Return the share of the models that read both, shape (q, q)."""
        ...

    def hubs(self, share: float = 0.5) -> list[str]:
        """Return the main hubs."""
        ...


def roles(network: Shares) -> dict[str, list[Any]]:
    """Return ``role``, ``hub``, ``lift`` and ``synonym_of`` of each column.

    The source calls the most common columns main hubs, and says that a column connected to one is
    "either a secondary hub or a synonym": that with main hub A, column B or column C predict
    equally well. It gives no numbers; ours are these. With w the shares and w(j, k) the joint
    ones, lift(j, k) = w(j, k) / (w(j) w(k)), which is 1 if two columns meet as often as chance
    has it, and alike(j, k) is the cosine of w(j, .) and w(k, .) over all columns but j and k:

    - *main hub*: w >= 1/2, or the greatest w if none is;
    - every other column, the most used first, is
    - a *synonym* of a main or secondary hub k if lift(j, k) < 1 and alike(j, k) >= 1/2: they
      seldom stand in one model, and stand with the same others (of several k, the most alike);
    - else a *secondary hub*, if it stands with a main hub, and that one has no secondary hub yet
      or w is at least half of what makes a main hub;
    - else *occasional*.

    ``hub`` is the main hub it stands with most often (of equals, the most used). These are words
    for reading a picture. Which models stay as good with C in place of B, and by how much their
    errors differ, says `Library.synonyms`.

    Parameters
    ----------
    network : ColumnNetwork

    Source: SWAG (Molinari et al. 2020), section 4.
    """
    w, joint = network.weight, network.joint
    lift = joint / np.outer(w, w)
    main = list(range(len(network.hubs())))  # they stand first
    bound = min(0.5, float(w.max())) / 2
    found: list[tuple[str, str, float, str]] = [("main hub", "", float("nan"), "")] * len(main)
    secondary: dict[int, int] = {}  # each secondary hub's main hub
    for j in range(len(main), len(w)):
        hub = int(np.argmax(joint[j, : len(main)]))
        joined = joint[j, hub] > 0
        likes = {k: _alike(joint, j, k) for k in [*main, *secondary] if lift[j, k] < 1 - 1e-9}
        replaced = max(likes, key=lambda k, likes=likes: (likes[k], -k), default=None)
        role, synonym = "occasional", ""
        if replaced is not None and likes[replaced] >= _ALIKE:
            role, synonym = "synonym", network.names[replaced]
        elif joined and (w[j] >= bound or hub not in secondary.values()):
            role = "secondary hub"
            secondary[j] = hub
        name, meets = (network.names[hub], float(lift[j, hub])) if joined else ("", float("nan"))
        found.append((role, name, meets, synonym))
    keys = ("role", "hub", "lift", "synonym_of")
    return {key: [one[i] for one in found] for i, key in enumerate(keys)}


def _alike(joint: _Floats, j: int, k: int) -> float:
    """Return the cosine between whom j and k stand with, leaving both out; rounded for ties."""
    a, b = (np.delete(joint[i], [j, k]) for i in (j, k))
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return round(float(a @ b) / norm, 9) if norm > 0 else 0.0
