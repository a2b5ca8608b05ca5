# A template with twelve places, filled in.
import sys
import time
import string

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
text = open(folder + "/letter.tmpl", encoding="utf-8").read()
text = text.replace("{{ ", "${").replace(" }}", "}")


def work():
    total = 0
    for n in range(count):
        template = string.Template(text)
        total += len(template.substitute(name="Anna", order=n, city="Bern", day="Monday"))
    return total


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
