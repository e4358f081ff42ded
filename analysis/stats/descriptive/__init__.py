"""Means, shares, rates and ratios of one group of observations, with intervals."""
