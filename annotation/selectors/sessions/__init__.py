"""Live sessions as pages show them."""
