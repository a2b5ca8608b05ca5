"""Cases of regular expressions that both dialects read alike.

They differ in where an empty match may follow another match, so patterns with empty matches
are left out, and what is repeated is never empty.
"""

import json
import random
import re

rng = random.Random(6)
ATOMS = ["a", "b", "c", "é", ".", r"\d", r"\w", r"\s", "[a-c]", "[^ab]", r"[\d_]", "ab", r"\.", r"\bb?a"]


def piece(depth):
    kind = rng.randrange(6)
    if depth == 0 or kind < 3:
        atom = rng.choice(ATOMS)
        many = rng.choice(["", "", "+", "{2}", "{1,3}", "+?"])
        return "(?:%s)%s" % (atom, many) if many else atom
    if kind == 3:
        return "(%s)" % pattern(depth - 1)
    if kind == 4:
        return "(?:%s|%s)" % (pattern(depth - 1), pattern(depth - 1))
    return "(?P<n%d>%s)?%s" % (rng.randrange(10**6), pattern(depth - 1), rng.choice(ATOMS))


def pattern(depth):
    return "".join(piece(depth) for _ in range(rng.randrange(1, 3)))


def described(match):
    named = {name: text for name, text in match.groupdict().items() if text is not None}
    return {"match": match.group(0), "groups": list(match.groups()), **named}


cases = []
while len(cases) < 500:
    given, flags = pattern(3), rng.choice(["", "i", "s", "m"])
    text = "".join(rng.choice("aabbccé AB.1_\n") for _ in range(rng.randrange(30)))
    compiled = re.compile(given, sum(getattr(re, flag.upper()) for flag in flags))
    found = list(compiled.finditer(text))
    if any(match.group(0) == "" for match in found):
        continue
    plain = re.compile(given)
    pieces, at = [], 0
    for match in found:
        pieces.append(text[at:match.start()])
        at = match.end()
    cases.append({
        "pattern": given,
        "flags": flags,
        "text": text,
        "matches": [match.group(0) for match in found] or None,
        "pieces": pieces + [text[at:]],
        "captures": [described(match) for match in plain.finditer(text)],
        "replaced": plain.sub(lambda match: "<" + match.group(0) + ">", text),
    })
print(json.dumps(cases))
