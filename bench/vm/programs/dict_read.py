import sys


def read(n):
    stock = {f"item_{i}": i % 13 for i in range(1000)}
    names = list(stock)
    total = 0
    for _ in range(n):
        for name in names:
            total += stock[name]
    return total


print(read(int(sys.argv[1]) if len(sys.argv) > 1 else 10000))
