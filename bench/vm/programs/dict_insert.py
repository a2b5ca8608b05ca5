import sys


def fill(n):
    ages = {}
    for i in range(n):
        ages[f"person_{i}"] = i % 100
    return ages


def insert(n):
    total = 0
    for _ in range(3):
        ages = fill(n)
        for i in range(n):
            total += ages[f"person_{i}"]
        total += len(ages)
    return total


print(insert(int(sys.argv[1]) if len(sys.argv) > 1 else 200000))
