"""Types that signatures share: arrays, tables as users give them, labels, plain data."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, sparray, spmatrix

sparse: Any = scipy.sparse  # its type stubs are incomplete

#: Arrays: of any kind of entries (labels, names, numbers of either size), of numbers, of indices.
Array: TypeAlias = NDArray[np.generic]
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    #: (T, p): whether a voter reads a column.
    Usage: TypeAlias = csr_array[np.bool_, tuple[int, int]]
    Sparse: TypeAlias = csc_array[np.float64]
    Values: TypeAlias = NDArray[np.float64] | Sparse
else:
    # matplotlib need not be installed, and older releases of scipy do not subscript
    Axes, Usage, Sparse, Values = Any, csr_array, csc_array, np.ndarray | csc_array

#: One value of a table, and one class label.
Cell: TypeAlias = str | bool | int | float | None
Label: TypeAlias = str | bool | int | float
#: A table by columns, as `table()` of a display returns it.
ColumnLists: TypeAlias = Mapping[str, Sequence[Cell]]
#: What a JSON file can hold.
Json: TypeAlias = Cell | Sequence["Json"] | Mapping[str, "Json"]
JsonObject: TypeAlias = Mapping[str, Json]


class Frame(Protocol):
    """A data frame of any library, with named columns."""

    @property
    def columns(self) -> Iterable[Hashable]:
        """The names of its columns."""
        ...


#: A table of cases, and their labels or numbers, as public functions accept them.
TableLike: TypeAlias = ArrayLike | Frame | sparray | spmatrix
LabelsLike: TypeAlias = TableLike | Sequence[Label | None]
#: One value for each row, or None: weights, groups.
PerRow: TypeAlias = ArrayLike | None
SeedLike: TypeAlias = int | np.random.RandomState | None
ClassWeightLike: TypeAlias = Mapping[Label, float] | str | None


class Estimator(Protocol):
    """An estimator that scikit-learn's `clone` accepts."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return its parameters."""
        ...

    def set_params(self, **params: Any) -> Any:
        """Set some of its parameters."""


class Record(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
