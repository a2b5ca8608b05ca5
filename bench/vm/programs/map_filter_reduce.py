import sys
from functools import reduce


def chain(n):
    numbers = list(range(1000))
    total = 0
    for i in range(n):
        scaled = [x * 3 + i for x in numbers]
        kept = [x for x in scaled if x % 2 == 0]
        total = reduce(lambda sum, x: (sum + x) % 1000003, kept, total)
    return total


print(chain(int(sys.argv[1]) if len(sys.argv) > 1 else 3000))
