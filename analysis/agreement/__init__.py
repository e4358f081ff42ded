"""Agreement of raters in a tidy table: one row per rating, no database and no Django."""
