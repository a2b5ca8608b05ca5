"""Cases of dates: timestamps shown, read, and seen from places around the world."""

import json
import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

rng = random.Random(20261116)
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]
FORMAT = "%Y-%m-%d %H:%M:%S %j %A %a %B %b %U %W %u %w %y %I %p %%"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def seconds(moment):
    return (moment - EPOCH) // timedelta(seconds=1)


def shown():
    at = rng.randrange(-2_200_000_000, 7_000_000_000)
    moment = EPOCH + timedelta(seconds=at)
    return {"do": "format", "at": at, "format": FORMAT, "expected": moment.strftime(FORMAT)}


def in_zone():
    at, name = rng.randrange(0, 2_100_000_000), rng.choice(ZONES)
    local = (EPOCH + timedelta(seconds=at)).astimezone(ZoneInfo(name))
    offset = int(local.utcoffset().total_seconds())
    parts = [local.year, local.month, local.day, local.hour, local.minute, local.second, (local.weekday() + 1) % 7, offset, local.isoformat()]
    return {"do": "zone", "at": at, "zone": name, "expected": parts}


def from_parts():
    """Near the hours that clocks skip or repeat, too."""
    name = rng.choice(ZONES)
    zone = ZoneInfo(name)
    local = datetime(rng.randrange(1975, 2036), rng.choice([3, 4, 10, 11, rng.randrange(1, 13)]), rng.randrange(1, 29), rng.randrange(0, 5), rng.randrange(60), tzinfo=zone)
    at = seconds(local.astimezone(timezone.utc))
    back = (EPOCH + timedelta(seconds=at)).astimezone(zone)
    exists = back.replace(tzinfo=None) == local.replace(tzinfo=None)
    parts = {"year": local.year, "month": local.month, "day": local.day, "hour": local.hour, "minute": local.minute}
    expected = at if exists else "date_from_components: local time does not exist in that timezone"
    return {"do": "parts", "parts": parts, "zone": name, "expected": expected}


def read():
    moment = EPOCH + timedelta(seconds=rng.randrange(-2_200_000_000, 7_000_000_000))
    minute = moment.replace(second=0)
    day = minute.replace(hour=0, minute=0)
    offset = rng.randrange(-14 * 60, 14 * 60 + 1)
    text, expected = rng.choice([
        (moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment),
        (moment.astimezone(timezone(timedelta(minutes=offset))).isoformat(), moment),
        (moment.strftime("%Y-%m-%d %H:%M:%S"), moment),
        (moment.strftime("%Y-%m-%dT%H:%M:%S"), moment),
        (minute.strftime("%Y-%m-%d %H:%M"), minute),
        (day.strftime("  %Y-%m-%d "), day),
        (moment.strftime("%Y/%m/%d, %H h %M m %S s"), moment),
        (day.strftime("%Y.%m.%d"), day),
    ])
    return {"do": "read", "text": text, "expected": seconds(expected)}


def moved():
    at, by = rng.randrange(-10**10, 10**10), rng.randrange(-10**9, 10**9) * 1000
    return {"do": "move", "at": at, "by": by, "expected": [at + by // 1000, by]}


makers = [shown, in_zone, from_parts, read, moved]
print(json.dumps([maker() for maker in makers for _ in range(400)]))
