"""Who sees the judges' marks: half of every four items of everybody, by seed."""

from itertools import islice

from annotation.designs.certificate import SEEN, WITHHELD, certify_design
from annotation.designs.hold_out import BLOCK, sees_marks
from annotation.designs.types import Allocation, DesignOption


def arms(seed: int, number: int, items: int) -> list[bool]:
    return [sees_marks(seed=seed, number=number, position=n) for n in range(1, items + 1)]


def test_every_block_of_everybody_has_both_arms_and_a_seed_repeats_them() -> None:
    for number in range(1, 30):
        drawn = iter(arms(7, number, 40))
        while block := list(islice(drawn, BLOCK)):
            assert sum(block) == BLOCK // 2
    assert arms(7, 3, 40) == arms(7, 3, 40)
    assert len({tuple(arms(7, number, 12)) for number in range(1, 30)}) > 20
    assert arms(7, 3, 40) != arms(8, 3, 40)


def test_no_place_and_no_item_tells_the_arm() -> None:
    for position in (1, 4, 30):
        share = sum(sees_marks(seed=1, number=n, position=position) for n in range(1, 1001)) / 1000
        assert abs(share - 0.5) < 0.06, position


def test_the_certificate_counts_both_arms_by_annotator_and_model() -> None:
    options = tuple(DesignOption(n, f"t{n}", "xy"[n % 2]) for n in range(1, 9))
    orders = {"Ann": (1, 2, 3, 4), "Ben": (5, 6, 7, 8)}
    marks = {
        name: {pk: sees_marks(seed=1, number=n, position=p) for p, pk in enumerate(order, 1)}
        for n, (name, order) in enumerate(orders.items(), 1)
    }
    dealt = Allocation(orders, options, "by hand", 1)
    certificate = certify_design(design=dealt, raters=1, marks=marks)
    by_name = {table.name: table.counts for table in certificate.tables}
    assert by_name["annotator × judges’ marks"] == {
        (name, arm): 2 for name in orders for arm in (SEEN, WITHHELD)
    }
    assert sum(by_name["model × judges’ marks"].values()) == 8
    plain = certify_design(design=dealt, raters=1)
    assert not any("marks" in table.name for table in plain.tables)
    assert plain.sha256 == certificate.sha256
