"""The layout of figures: colours and symbols, shared elements, and other widths."""
