# Processes, one after the other.
import sys
import subprocess

from timing import timed

count = int(sys.argv[2])


def work():
    good = 0
    for n in range(count):
        end = subprocess.run(["echo", str(n)], capture_output=True, text=True)
        good += end.stdout == f"{n}\n"
    return good


timed(work)
