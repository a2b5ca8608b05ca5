import sys


def page(n):
    pieces = ["alpha ", "beta, ", "gamma ", "delta\n"]
    parts = []
    for i in range(n):
        parts.append(pieces[i % 4])
    parts.append("omega")
    return "".join(parts)


def build(n):
    total = 0
    for i in range(30):
        text = page(n + i)
        total += text.index("omega") + len(text)
    return total


print(build(int(sys.argv[1]) if len(sys.argv) > 1 else 170000))
