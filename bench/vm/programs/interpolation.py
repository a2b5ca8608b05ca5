import sys


def describe(n):
    names = ["anna", "bob", "charlotte"]
    total = 0
    for i in range(n):
        text = f"{i}: {names[i % 3]} has {i % 100} points"
        total += len(text)
    return total


print(describe(int(sys.argv[1]) if len(sys.argv) > 1 else 1500000))
