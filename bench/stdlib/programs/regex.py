# Addresses and dates in a text of 10 MB.
import sys
import re

from timing import timed

folder = sys.argv[1]
text = open(folder + "/text.txt", encoding="utf-8").read()
pattern = re.compile("[a-z0-9]+@[a-z]+[.]org|[0-9]{4}-[0-9]{2}-[0-9]{2}")


def work():
    return len(pattern.findall(text))


timed(work)
