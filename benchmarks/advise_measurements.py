"""The adviser's answer beside each published measurement, as a Markdown table.

    python benchmarks/advise_measurements.py [--all]

Three answers to each: by the calculation alone; with all measurements of other sources; with all measurements but this one.
"open" is where the adviser says nothing. The last lines count how often gain is distinguished from loss (outside 8 %), the
median error, and how many are inside the interval. Without --all only these lines are printed.
"""

from __future__ import annotations

import statistics
import sys

from servelint.speculation.gains import Calibration, Gain, Measurement, gain_of, gain_of_posterior, published


def repository(one: Measurement) -> str:
    return one.source.split("/blob/")[0]


def answers() -> list[tuple[Measurement, list[Gain | None]]]:
    rows = published()
    sources = {repository(one) for one in rows}
    others = {source: Calibration(tuple(row for row in rows if repository(row) != source)) for source in sources}
    rest = {id(one): gain_of_posterior(one.case, found) for one, found in Calibration(rows).left_out()}
    nothing = Calibration(())
    return [(one, [gain_of(one.case, nothing), gain_of(one.case, others[repository(one)]), rest[id(one)]]) for one in rows]


def shown(found: Gain | None) -> str:
    return "open" if found is None else f"{found.mid:.2f} ({found.low:.2f} to {found.high:.2f})"


def main() -> None:
    rows = answers()
    if "--all" in sys.argv[1:]:
        print(
            "| model, GPU | method, tokens | concurrency | measured "
            "| calculation alone | with other sources | with all others |"
        )
        print("|---|---|---:|---:|---:|---:|---:|")
        for one, found in rows:
            case = one.case
            cells = [
                f"{case.model or 'not named'}, {case.gpu}",
                f"{one.method}, {case.tokens or 'not named'}",
                str(case.concurrency),
            ]
            print("| " + " | ".join([*cells, f"{one.gain:.2f}", *map(shown, found)]) + " |")
    for index, name in enumerate(("calculation alone", "with other sources", "with all others")):
        told = [(one, found) for one, several in rows if (found := several[index]) is not None]
        errors = [abs(found.mid / one.gain - 1) for one, found in told]
        clear = [(one.gain > 1) == (found.mid > 1) for one, found in told if abs(one.gain - 1) > 0.08]
        inside = sum(found.low <= one.gain <= found.high for one, found in told)
        print(
            f"{name}: {len(rows) - len(told)} of {len(rows)} open; gain distinguished from loss in {sum(clear)}"
            f" of {len(clear)}; median error {statistics.median(errors):.1%}; {inside} of {len(told)} inside"
        )


if __name__ == "__main__":
    main()
