"""A report on a tidy table in words and plain tables, as a terminal shows it."""

from collections.abc import Iterable, Mapping, Sequence

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import RaterGroup, SectionReport, TidyReport
from analysis.stats.corrected.corrected_means import CorrectedMean
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.kappas import weights_in_words
from analysis.stats.rater_agreement.non_inferiority import ANSWERS
from analysis.stats.rater_agreement.sample_size import SampleSize
from analysis.stats.results import Estimate

GAP = "  "
NOTHING = "–"
MOST_PAIRS = 60
Rows = list[tuple[str, ...]]


def report_text(report: TidyReport) -> str:
    """Return the whole report."""
    settings = report.settings
    lines = [
        f"{report.rows:,} rows, {report.blank:,} of them without a score; scale "
        f"{settings.scale[0]} to {settings.scale[1]}.",
        f"Intervals: {settings.level:.0%}; where they resample: seed {settings.seed}, "
        f"{settings.resamples:,} resamples.",
    ]
    if report.ignored:
        lines.append(f"Columns that were not read: {', '.join(report.ignored)}.")
    for section in report.sections:
        lines += ["", *_section(section)]
    if len(report.family) > 1 and any(test.annotators for test in report.family):
        lines += ["", *_family(report.family)]
    return "\n".join(lines)


def _section(section: SectionReport) -> list[str]:
    title = f"{section.dataset}, {section.criterion}"
    drawn = (
        "Items share tasks: intervals resample tasks."
        if section.unit == "task"
        else "Items are taken as independent."
    )
    lines = [title, "=" * len(title), f"Items: {section.items:,}. {drawn}"]
    lines += [f"Note: {warning}." for warning in section.warnings]
    lines += _group("People among themselves", section.people)
    lines += _group("Judges among themselves", section.judges)
    lines += _against(section.against)
    lines += _corrected(section.corrected)
    return lines + _planning(section)


def _group(title: str, group: RaterGroup) -> list[str]:
    lines = _heading(title)
    if not group.raters:
        return [*lines, group.undefined[:1].upper() + group.undefined[1:] + "."]
    shares = GAP.join(
        f"{score}: {count / group.ratings:.1%}" for score, count in group.counts.items()
    ) if group.ratings else NOTHING  # fmt: skip
    lines += [
        f"Raters: {len(group.raters)} ({_some(group.raters)}). Scores: {group.ratings:,}. Items "
        f"with two scores or more: {group.items:,}; with one: {group.single:,}.",
        f"Scores given: {shares}",
    ]
    if group.undefined:
        return [*lines, group.undefined[:1].upper() + group.undefined[1:] + "."]
    named = [
        ("Equal pairs of scores", group.equal),
        ("Pairs within one point", group.within_one),
        *((f"Krippendorff's alpha, {metric}", e) for metric, e in group.alphas.items()),
        *((f"Fleiss' kappa, {weights_in_words(w)}", e) for w, e in group.fleiss.items()),
        *((f"Gwet's {'AC1' if w == 'none' else f'AC2, {w}'}", e) for w, e in group.gwet.items()),
        *((f"{form}, complete items", e) for form, e in group.icc.items()),
        *((f"ICC1, all answers, {name}", e) for name, e in group.icc_unbalanced.items()),
        *((f"{form}, all answers, REML", e) for form, e in group.icc_reml.items()),
    ]
    lines += ["", *_estimates(named)]
    lines += [f"Note: {warning}." for warning in group.warnings]
    return [*lines, *_pairs(group)]


def _pairs(group: RaterGroup) -> list[str]:
    if not group.pairs:
        return []
    head = (
        "pair", "n", "equal", "within 1", "bias", "mean |d|", "kappa", "linear", "quadratic",
        "Pearson", "Spearman", "Kendall", "limits of agreement",
    )  # fmt: skip
    rows: Rows = [head]
    for pair in group.pairs[:MOST_PAIRS]:
        shares, limits = pair.shares, pair.limits
        three = (pair.correlations.pearson, pair.correlations.spearman, pair.correlations.kendall)
        rows.append(
            (
                f"{pair.first}, {pair.second}", str(shares.n), _share(shares.exact),
                _share(shares.within_one), _signed(shares.bias), _number(shares.absolute),
                *(_number(e) for e in pair.kappas.values()), *(_number(e) for e in three),
                NOTHING
                if limits.sd is None
                else f"{_signed(limits.lower)} to {_signed(limits.upper)}",
            )
        )  # fmt: skip
    lines = ["", "Pairs (bias: second minus first; intervals with --json):", *_aligned(rows)]
    if len(group.pairs) > MOST_PAIRS:
        lines.append(f"… and {len(group.pairs) - MOST_PAIRS} pairs more, with --json.")
    if group.apart:
        lines.append(f"Pairs of raters without a common item: {group.apart}.")
    return lines


def _against(comparisons: Sequence[JudgeComparison]) -> list[str]:
    if not comparisons:
        return []
    lines = _heading("Judges against people")
    for comparison in comparisons:
        answers, three, limits = comparison.answers, comparison.correlations, comparison.limits
        kappas = [] if comparison.panel > 1 else list(comparison.kappas.items())
        rule = answers.rules
        lines += ["", f"{comparison.judge}:"]
        lines += _estimates(
            [
                (f"Exact: {rule['exact']}", answers.exact),
                *([(f"Exact: {rule['rounded']}", answers.rounded)] if comparison.panel > 1 else []),
                ("Within one point", answers.within_one),
                ("Bias: judges minus person", answers.bias),
                ("Mean absolute difference", answers.absolute),
                *((f"Cohen's kappa, {weights_in_words(w)}", e) for w, e in kappas),
                *(
                    (f"Krippendorff's alpha, {metric}, judge with people", e)
                    for metric, e in comparison.alphas.items()
                    if comparison.panel == 1
                ),
                *(
                    (f"{form}, with the mean of an item's people", e)
                    for form, e in comparison.icc.items()
                ),
                ("Pearson, with the mean of an item's people", three.pearson),
                ("Spearman, with the mean of an item's people", three.spearman),
                ("Kendall, with the mean of an item's people", three.kendall),
                ("Bland-Altman lower limit, judge minus people", limits.lower),
                ("Bland-Altman upper limit, judge minus people", limits.upper),
            ],
            signed=("Bias: judges minus person", "Bland-Altman lower", "Bland-Altman upper"),
        )
        filled = [b for b in answers.distribution.bins if b.count]
        lines.append(
            "Absolute differences: " + GAP.join(f"{b.label}: {b.count}" for b in filled)
            if filled
            else "Absolute differences: none."
        )
    return [*lines, *_alternative([comparison.alternative for comparison in comparisons])]


def _alternative(tests: Sequence[AltTest]) -> list[str]:
    first = tests[0]
    lines = _heading("May a judge stand in for a person?")
    lines.append(
        f"Margin −{first.margin:g}, ε = {first.epsilon:g}, q = {first.q:g}; a judge may stand in "
        "where kappa with people minus people's own lies above the margin (95 %), and its winning "
        "rate is 0.5 or more, p-values adjusted over the people of each test (Benjamini-Yekutieli)."
    )
    rows: Rows = [
        (
            "judge", "verdict", "kappa minus people's", "kappa", "people's", "winning rate",
            "advantage probability", "adjusted p",
        )
    ]  # fmt: skip
    for test in tests:
        agreement = test.verdict.agreement
        if agreement is None:
            rows.append((test.judge, f"not available: {test.advantage.undefined}", *[""] * 6))
            continue
        rows.append(
            (
                test.judge, verdict_words(test),
                f"{_signed(agreement.difference)} {_ends(agreement.difference)}",
                _number(agreement.judge), _number(agreement.people),
                _number(test.winning_rate), f"{_number(test.advantage)} {_ends(test.advantage)}",
                GAP.join(f"{a.annotator} {a.adjusted:.2g}" for a in test.annotators),
            )
        )  # fmt: skip
    lines += _aligned(rows)
    available = [test for test in tests if test.passed is not None]
    lines += [f"{test.judge}: {test.verdict.text}" for test in available]
    cautioned: dict[str, list[str]] = {}
    for test in available:
        for caution in test.verdict.cautions:
            cautioned.setdefault(caution, []).append(test.judge)
    for caution, judges in cautioned.items():
        who = "" if len(judges) == len(available) else f"{_some(judges)}: "
        lines.append(f"Note: {who}{caution}.")
    left = first.left_out
    if left and first.passed is not None:
        lines.append(f"Left out, too few items: {_some([f'{k} ({n})' for k, n in left.items()])}.")
    for test in tests:
        lines += [f"Note: {test.judge}: {warning}." for warning in test.warnings]
    return lines


def verdict_words(test: AltTest) -> str:
    """Return the verdict on a judge in two words."""
    return ANSWERS[test.verdict.answer]


def _family(tests: Sequence[AltTest]) -> list[str]:
    title = "All tests of judges as one family"
    statement = next(test.family for test in tests if test.annotators)
    rows: Rows = [("judge", "criterion", "verdict", "winning rate")]
    rows += [
        (
            test.judge, test.criterion, verdict_words(test),
            _number(test.winning_rate),
        )
        for test in tests
        if test.passed is not None
    ]  # fmt: skip
    return [title, "=" * len(title), f"Adjusted together: {statement}.", *_aligned(rows)]


def _corrected(means: Mapping[str, CorrectedMean]) -> list[str]:
    """Return the means of judges over all items, corrected by people."""
    if not means:
        return []
    rows: Rows = [("judge", "judge's mean", "corrected", "interval", "rated", "and what to know")]
    for name, mean in means.items():
        estimate = mean.estimate
        judged = NOTHING if mean.judges is None else f"{mean.judges:.3f}"
        notes = [estimate.undefined, estimate.no_interval, *estimate.warnings]
        if estimate.interval is not None:
            notes.append(estimate.interval.method)
        notes += [f"{reason}: {count}" for reason, count in estimate.excluded.items()]
        corrected = "undefined" if estimate.value is None else _number(estimate)
        known = "; ".join(filter(None, notes))
        rows.append((name, judged, corrected, _ends(estimate), f"{mean.rated:,}", known))
    return [*_heading("Means of judges, corrected by people"), *_aligned(rows)]


def _planning(section: SectionReport) -> list[str]:
    planning = section.planning
    named = (
        ("share of equal pairs", planning.equal),
        ("ordinal alpha", planning.alpha),
        ("ICC1", planning.icc),
    )
    rows: Rows = [(name, _items(size), size.method) for name, size in named if size is not None]
    if not rows:
        return []
    title = f"Items needed for ± {planning.half_width:g}, if more are like these"
    lines = [*_heading(title), *_aligned([("for", "items", "how"), *rows])]
    if section.unit == "task":
        lines.append("These count items as independent: more are needed where items share tasks.")
    return lines


def _items(size: SampleSize) -> str:
    return size.undefined if size.items is None else f"{size.items:,}"


def _estimates(named: Iterable[tuple[str, Estimate]], *, signed: tuple[str, ...] = ()) -> list[str]:
    rows: Rows = [("statistic", "value", "interval", "n", "how, and what to know")]
    for name, estimate in named:
        if estimate.value is None:
            rows.append((name, "undefined", "", str(estimate.n), estimate.undefined))
            continue
        notes = [estimate.interval.method] if estimate.interval else [estimate.no_interval]
        notes += [f"{reason}: {count}" for reason, count in estimate.excluded.items() if count]
        notes += [*estimate.warnings]
        value = _signed(estimate) if name.startswith(signed or (" ",)) else _number(estimate)
        rows.append((name, value, _ends(estimate), f"{estimate.n:,}", "; ".join(notes)))
    return _aligned(rows)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the columns as wide as their widest entry; numbers to the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    right = [c > 0 and all(_is_number(row[c]) for row in rows[1:]) for c in range(len(widths))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append(GAP.join(cells).rstrip())
    return lines


def _is_number(cell: str) -> bool:
    return cell in ("", NOTHING, "undefined") or cell.strip("+−0123456789.,% ") == ""


def _heading(title: str) -> list[str]:
    return ["", title, "-" * len(title)]


def _number(estimate: Estimate) -> str:
    return NOTHING if estimate.value is None else f"{estimate.value:.3f}".replace("-", "−")


def _signed(estimate: Estimate) -> str:
    if estimate.value is None:
        return NOTHING
    # Not −0.00.
    return f"{round(estimate.value, 2) + 0:+.2f}".replace("-", "−")


def _share(estimate: Estimate) -> str:
    return NOTHING if estimate.value is None else f"{estimate.value:.1%}"


def _ends(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return ""
    return f"{interval.low:.3f} to {interval.high:.3f}".replace("-", "−")


def _some(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
