"""All 51,979,200 rounds of a Let It Ride seat, dealt another way than the par sheet deals them."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from controller.math import bulk
from controller.math.ride import ROUNDS, optimal
from controller.rules.paytables import MAIN_OF, MainHand, main_table


def test_every_round_rides_as_the_par_sheet_says() -> None:
    """The sheet counts four cards at a time; here each five cards are split in all twenty ways."""
    ride = optimal(main_table("test"))
    rides_1 = np.zeros((52, 52, 52), np.uint8)
    rides_1[tuple(ride.threes.T)] = ride.values_of_three > 0
    rides_2 = np.zeros((52, 52, 52, 52), np.uint8)
    rides_2[tuple(ride.fours.T)] = ride.values_of_four > 0
    main = np.frombuffer(MAIN_OF, np.uint8)
    joint = np.zeros(4 * len(MainHand), np.int64)
    for hands in bulk.every_hand(5):
        column = hands.T
        classes = main.take(bulk.rank5(hands)).astype(np.int64)
        for own in combinations(range(5), 3):
            one = rides_1[tuple(column[i] for i in own)]
            shared = [i for i in range(5) if i not in own]
            for first, _ in permutations(shared):
                four = sorted((*own, first))
                two = rides_2[tuple(column[i] for i in four)]
                joint += np.bincount(
                    (2 * one + two) * len(MainHand) + classes, minlength=len(joint)
                )
    assert int(joint.sum()) == ROUNDS
    assert joint.reshape(2, 2, -1).tolist() == [[list(b) for b in a] for a in ride.joint]
