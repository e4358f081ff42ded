"""The pages of runs and of datasets: they show what every other feature knows of them."""
