# Half of the files in many folders, found by a pattern.
import sys
import glob

from timing import timed

folder = sys.argv[1]


def work():
    return len(sorted(glob.glob(folder + "/tree/**/*.txt", recursive=True, include_hidden=True)))


timed(work)
