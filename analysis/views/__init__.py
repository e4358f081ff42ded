"""Pages, figures and tables of the analysis. They read and never write."""
