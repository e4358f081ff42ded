"""Downloads: analysis pages, runs, studies and experiments as files for a paper."""
