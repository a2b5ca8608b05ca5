# A template with twelve places, filled in.
import sys
import string

from timing import timed

folder, count = sys.argv[1], int(sys.argv[2])
text = open(folder + "/letter.tmpl", encoding="utf-8").read()
text = text.replace("{{ ", "${").replace(" }}", "}")


def work():
    total = 0
    for n in range(count):
        template = string.Template(text)
        total += len(template.substitute(name="Anna", order=n, city="Bern", day="Monday"))
    return total


timed(work)
