"""How it is computed: spectral coordinates, dimension, residual effects."""
