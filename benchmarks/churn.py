"""What coming and going does to a run.

Four peers of different speeds and a first contact, each on a host of its own (network namespaces: needs root), train a
small model. At random, with a fixed seed, peers leave politely, are killed, stopped for a minute, or cut off; two at
most are away at a time. Then the same number of samples is trained undisturbed, and both losses are printed.

Run it with `.venv/bin/python -m benchmarks.churn [SECONDS] [SEED]`.
"""

import statistics
import sys
from collections import Counter

from tests.network.lineups.churn import run
from tests.network.namespaces import why_not
from tests.network.peers.churn_peer import TIMEOUT

SECONDS, SEED = 600, 1
_EVERY = 10.0
_AWAY = (20.0, 60.0)
_LAST = 10
"""Epochs over which a loss is taken."""


def main() -> None:
    if why := why_not():
        raise SystemExit(f"This cannot be measured here: {why}.")
    given = [int(value) for value in sys.argv[1:]]
    seconds, seed = given + [SECONDS, SEED][len(given) :]
    with run(seed) as churn:
        churn.reach(3, 120.0)
        churn.disturb(seconds, _EVERY, _AWAY)
        epoch, digest = churn.agreed(120.0)
        gaps, disturbed, failures, loss = churn.gaps(), churn.disturbed, churn.rounds_failed(), churn.losses()
        rounds, idle = churn.rounds(), churn.idle()
    with run(seed) as calm:
        calm.reach(epoch, 3.0 * seconds)
        calm_gaps, calm_loss, calm_rounds, calm_idle = calm.gaps(), calm.losses(), calm.rounds(), calm.idle()
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(disturbed).items()))
    print(f"{len(disturbed)} disturbances in {seconds} s ({kinds}), seed {seed}")
    print(f"epochs {epoch}; parameters of all peers after it: {digest}")
    for what, found, calm_found in (
        ("between updates", gaps, calm_gaps),
        ("from a full batch to its update", rounds, calm_rounds),
        ("in which nobody added anything", idle, calm_idle),
    ):
        print(f"seconds {what}: median {statistics.median(found):.1f}, longest {max(found):.1f}; ", end="")
        print(f"undisturbed {statistics.median(calm_found):.1f}, {max(calm_found):.1f}")
    print(f"averaging time-out: {TIMEOUT:g} s")
    print(f"rounds that a peer gave up: {failures}")
    for number in (epoch // 2, epoch):
        means = [
            statistics.fmean(loss_of[e] for e in loss_of if number - _LAST < e <= number)
            for loss_of in (loss, calm_loss)
        ]
        print(f"loss around epoch {number}: {means[0]:.4f}, undisturbed {means[1]:.4f}")


if __name__ == "__main__":
    main()
