"""Tree growers on the kernels, one file per family: C4.5, CART, forests, boosted trees, stumps."""
