"""Agreement of raters: people with each other, and judges with people."""
