import sys


def adder(step):
    return lambda x: x + step


def compose(n):
    total = 0
    for i in range(n):
        scale = i % 3
        add = adder(i % 7)
        both = lambda x: add(x) + scale
        total = (both(total) + add(i)) % 1000003
    return total


print(compose(int(sys.argv[1]) if len(sys.argv) > 1 else 1500000))
