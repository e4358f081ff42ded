from analysis.figures.layout.elements import difference_axis


def test_differences_of_shares_are_in_points() -> None:
    axis = difference_axis(-0.32, 0.51)
    assert axis["tickvals"] == [-0.2, 0.0, 0.2, 0.4]
    assert axis["ticktext"] == ["−20 pt", "0", "+20 pt", "+40 pt"]
    assert axis["range"] == [-0.32, 0.51]
    whole = difference_axis(-1, 1)
    assert whole["ticktext"] == ["−100 pt", "−50 pt", "0", "+50 pt", "+100 pt"]
