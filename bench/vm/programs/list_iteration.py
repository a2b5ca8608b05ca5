import sys


def walk(n):
    numbers = [i % 17 for i in range(1000)]
    total = 0
    for _ in range(n):
        for number in numbers:
            total += number
    return total


print(walk(int(sys.argv[1]) if len(sys.argv) > 1 else 15000))
