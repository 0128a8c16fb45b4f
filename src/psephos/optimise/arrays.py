"""Arrays of NumPy, or of another library of the Python array API standard (a GPU's)."""

from typing import Any

import numpy as np

from psephos._errors import PsephosError

__all__ = ["like", "namespace", "on_host"]


def namespace(array: Any) -> Any:
    """Return the functions of an array's library, by the names of the array API standard.

    Raises
    ------
    PsephosError
        If the library is none of the standard.
    """
    if isinstance(array, np.ndarray):
        return np
    try:
        return array.__array_namespace__()
    except AttributeError:
        pass
    try:
        from sklearn.externals import array_api_compat  # what scikit-learn brings

        return array_api_compat.array_namespace(array)
    except (ImportError, TypeError):
        raise PsephosError(
            f"{type(array).__name__} is no array of the Python array API standard: give NumPy "
            "arrays, or those of PyTorch or CuPy with scikit-learn 1.7 or newer."
        ) from None


def on_host(array: Any) -> Any:
    """Return an array as one of NumPy."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "cpu"):  # PyTorch
        return array.cpu().numpy()
    return np.asarray(array.get() if hasattr(array, "get") else array)  # CuPy, others


def like(host: Any, array: Any) -> Any:
    """Return a NumPy array as one of the library, device and type of another."""
    if isinstance(array, np.ndarray):
        return np.asarray(host, dtype=array.dtype)
    return namespace(array).asarray(np.asarray(host), dtype=array.dtype, device=array.device)
