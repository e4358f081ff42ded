"""How figures look: colours and symbols, elements that many share, and other widths."""
