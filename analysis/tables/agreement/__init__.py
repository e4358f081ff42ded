"""Agreement of raters in a table that anybody can make: one row per rating, no database."""
