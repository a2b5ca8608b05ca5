import sys


def squares(n):
    numbers = []
    for i in range(n):
        numbers.append(i * i)
    return numbers


def build(n):
    total = 0
    for i in range(80):
        numbers = squares(n)
        total = (total + len(numbers) + numbers[n - 1 - i]) % 1000003
    return total


print(build(int(sys.argv[1]) if len(sys.argv) > 1 else 100000))
