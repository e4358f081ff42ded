"""The one idea of the product: an episode asks, something answers. No Django below this line."""
