import sys


def rotate(n):
    a = 1
    b = 2
    c = 3
    d = 4
    for _ in range(n):
        first = a
        second = c
        a = b
        b = second
        c = d
        d = first
        kept = a
        other = d
        a = other
        d = kept
    return f"{a} {b} {c} {d}"


print(rotate(int(sys.argv[1]) if len(sys.argv) > 1 else 8000000))
