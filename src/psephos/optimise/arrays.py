"""Arrays of NumPy, or of another library of the Python array API standard, such as on a GPU."""

from typing import Any

import numpy as np

from psephos._errors import PsephosError


def namespace(array: Any) -> Any:
    """Return the functions of an array's library, by the names of the array API standard."""
    if isinstance(array, np.ndarray):
        return np
    try:
        return array.__array_namespace__()
    except AttributeError:
        pass
    try:
        from sklearn.externals import array_api_compat  # bundled with scikit-learn

        return array_api_compat.array_namespace(array)
    except (ImportError, TypeError):
        raise PsephosError(
            f"arrays must be of NumPy, or of PyTorch or CuPy with scikit-learn 1.7 or newer; got "
            f"{type(array).__name__}."
        ) from None


def on_host(array: Any) -> Any:
    """Return an array as a NumPy array."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "cpu"):  # PyTorch
        return array.cpu().numpy()
    return np.asarray(array.get() if hasattr(array, "get") else array)  # CuPy, others


def on_device(host: Any, device: str) -> Any:
    """Return a copy of a NumPy array as a PyTorch tensor on a device; the array itself on 'cpu'."""
    if device == "cpu":
        return host
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise PsephosError(
            f"device={device!r} needs PyTorch: install the build for that device, or set "
            "device='cpu'."
        ) from None
    try:
        return torch.asarray(np.array(host), device=device)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        raise PsephosError(
            f"device must be one that PyTorch has here, such as 'cpu' or 'cuda'; got {device!r} "
            f"({str(error).splitlines()[0]:.80})."
        ) from None


def like(host: Any, array: Any, dtype: Any = None) -> Any:
    """Return a NumPy array in another array's library, device and dtype (or `dtype`)."""
    if isinstance(array, np.ndarray):
        return np.asarray(host, dtype=dtype or array.dtype)
    xp = namespace(array)
    return xp.asarray(np.asarray(host), dtype=dtype or array.dtype, device=array.device)
