import sys


def down(n):
    if n == 0:
        return 0
    return 1 + deeper(n - 1)


def deeper(n):
    if n == 0:
        return 0
    return 2 + down(n - 1)


def dive(n):
    total = 0
    for i in range(n):
        total = (total + down(400) + i) % 1000003
    return total


print(dive(int(sys.argv[1]) if len(sys.argv) > 1 else 10000))
