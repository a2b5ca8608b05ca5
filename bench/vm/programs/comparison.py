import sys


def count(n):
    low = high = same = 0
    i = 0
    j = n
    while i < n:
        if i < j and i != 5:
            low += 1
        elif i == j or i == 7:
            same += 1
        elif i >= j:
            high += 1
        i += 1
        j -= 1
    return f"{low} {same} {high}"


print(count(int(sys.argv[1]) if len(sys.argv) > 1 else 6000000))
