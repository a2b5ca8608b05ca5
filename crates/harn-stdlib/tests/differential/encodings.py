"""Cases of texts that are encoded and digested."""

import base64
import hashlib
import hmac
import json
import random
import urllib.parse
import uuid

rng = random.Random(13)
LETTERS = "abcXYZ019 -_.~/+%&=?#\"'\\\n\t\0éß€漢🎉\u0301"


def text(longest=40):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(longest)))


def case(do, given, expected):
    return {"do": do, "given": given, "expected": expected}


def encodings():
    given = text()
    octets = given.encode()
    plain = lambda encoded: encoded.decode()
    for do, encoded in [
        ("base64", plain(base64.b64encode(octets))),
        ("base64url", plain(base64.urlsafe_b64encode(octets)).rstrip("=")),
        ("base32", plain(base64.b32encode(octets))),
        ("hex", octets.hex()),
    ]:
        yield case(do + "_encode", [given], encoded)
        yield case(do + "_decode", [encoded], given)
    yield case("url_encode", [given], urllib.parse.quote(given, safe="-_.~"))
    yield case("url_decode", [urllib.parse.quote_plus(given)], given)


def escapes():
    given = "".join(rng.choice(["%", "%4", "%41", "%c3%a9", "%C3", "%zz", "+", "a", "é"]) for _ in range(rng.randrange(8)))
    yield case("url_decode", [given], urllib.parse.unquote_plus(given, errors="replace"))


def digests():
    given = text(300)
    for do in ["md5", "sha224", "sha256", "sha384", "sha512", "sha512_256", "sha3_256", "sha3_512"]:
        yield case(do, [given], hashlib.new(do, given.encode()).hexdigest())
    key = text(200)
    code = hmac.new(key.encode(), given.encode(), hashlib.sha256).digest()
    yield case("hmac_sha256", [key, given], code.hex())
    yield case("hmac_sha256_base64", [key, given], base64.b64encode(code).decode())


def uuids():
    name = text()
    yield case("uuid_v5", ["url", name], str(uuid.uuid5(uuid.NAMESPACE_URL, name)))
    one = uuid.UUID(int=rng.getrandbits(128))
    for spelling in [str(one).upper(), one.hex, one.urn, "{%s}" % one]:
        yield case("uuid_parse", [spelling], str(one))


makers = [encodings, escapes, digests, uuids]
print(json.dumps([one for maker in makers for _ in range(150) for one in maker()]))
