import sys


def scattered(n):
    numbers = []
    seed = 42
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        numbers.append(seed)
    return numbers


def middle(n):
    numbers = scattered(n)
    total = 0
    for i in range(20):
        ordered = sorted(numbers)
        total += ordered[n // 2 + i]
    return total


print(middle(int(sys.argv[1]) if len(sys.argv) > 1 else 100000))
