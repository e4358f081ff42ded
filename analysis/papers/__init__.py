"""Paper pages: parts of analysis pages pinned to a page of one's own, with words around them."""
