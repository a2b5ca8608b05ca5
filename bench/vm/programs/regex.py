import re
import sys


def lengths(pattern, text):
    total = 0
    for found in re.findall(pattern, text):
        total += len(found)
    return total


def search(n):
    line = "on 2024-06-17 anna wrote to bob@example.com, in copy carol, about order 1482\n"
    text = line * n
    total = 0
    for _ in range(10):
        total += lengths("[a-z]+@[a-z]+[.]com", text)
        total += lengths("[0-9]+-[0-9]+-[0-9]+", text)
    return total


print(search(int(sys.argv[1]) if len(sys.argv) > 1 else 13800))
