import sys


def compute(n):
    total = 0
    scaled = 0.0
    for i in range(1, n + 1):
        total = (total * 3 + i - i // 7 + i % 5) % 1000003
        scaled = scaled * 0.5 + 0.25
    return total + int(scaled * 1000.0)


print(compute(int(sys.argv[1]) if len(sys.argv) > 1 else 3000000))
