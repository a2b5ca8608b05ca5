import sys


def one():
    return 1


def following(n):
    return n + 1


def add(a, b, c):
    return a + b + c


def call(n):
    total = 0
    for i in range(n):
        total = add(total, following(i), one()) % 1000003
    return total


print(call(int(sys.argv[1]) if len(sys.argv) > 1 else 2500000))
