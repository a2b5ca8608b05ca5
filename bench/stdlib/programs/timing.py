"""How long the work of a program takes."""

import sys
import time


def timed(work):
    """Does some work as often as the row says; writes what it comes to and how long each time takes."""
    rounds = int(sys.argv[3])
    started = time.perf_counter()
    for _ in range(rounds):
        answer = work()
    took = time.perf_counter() - started
    print(answer)
    print(took * 1000 / rounds)
