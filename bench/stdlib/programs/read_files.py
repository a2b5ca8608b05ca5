# Small files, read one after the other.
import sys

from timing import timed

folder, count = sys.argv[1], int(sys.argv[2])


def work():
    total = 0
    for n in range(count):
        with open(f"{folder}/small/{n}.txt", encoding="utf-8") as file:
            total += len(file.read())
    return total


timed(work)
