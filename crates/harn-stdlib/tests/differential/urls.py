"""Cases of queries and of URLs that need no mending."""

import json
import random
import urllib.parse

rng = random.Random(5)
# What only one of the two leaves as it is (`~` and `*`) is left out.
LETTERS = "abcXYZ019 -_./+%&=?#\"'\\\néß€漢🎉"
PLAIN = "abcxyz019-_."


def text(letters=LETTERS, shortest=0, longest=12):
    return "".join(rng.choice(letters) for _ in range(rng.randrange(shortest, longest)))


def queries():
    pairs = [(text(), text()) for _ in range(rng.randrange(5))]
    items = [{"key": key, "value": value} for key, value in pairs]
    query = urllib.parse.urlencode(pairs)
    yield {"do": "write", "items": items, "expected": query}
    yield {"do": "read", "query": rng.choice(["", "?"]) + query, "expected": items}


def loose_queries():
    query = "".join(rng.choice(["a", "b", "=", "&", "+", "%20", "%", "é", "%C3%A9"]) for _ in range(rng.randrange(12)))
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    yield {"do": "read", "query": query, "expected": [{"key": key, "value": value} for key, value in pairs]}


def urls():
    scheme = rng.choice(["http", "https", "ftp"])
    user = rng.choice(["", text(PLAIN, 1) + "@", text(PLAIN, 1) + ":" + text(PLAIN, 1) + "@"])
    host = "h" + text("abcxyz", 1) + ".example"
    port = rng.choice(["", ":%d" % rng.randrange(1024, 65536)])
    path = "".join("/p" + text(PLAIN) for _ in range(rng.randrange(4))) or "/"
    query = rng.choice(["", "?" + text(PLAIN, 1) + "=" + text(PLAIN)])
    fragment = rng.choice(["", "#" + text(PLAIN, 1)])
    url = scheme + "://" + user + host + port + path + query + fragment
    parts = urllib.parse.urlsplit(url)
    expected = {
        "scheme": parts.scheme, "host": parts.hostname, "port": parts.port, "path": parts.path,
        "query": parts.query or None, "fragment": parts.fragment or None,
        "username": parts.username, "password": parts.password,
    }
    yield {"do": "split", "url": url, "expected": expected}


makers = [queries, loose_queries, urls]
print(json.dumps([one for maker in makers for _ in range(400) for one in maker()]))
