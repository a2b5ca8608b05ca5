# A thing as it arrives from outside.
@dataclass
class Thing:
    id: str
    label: str
    amount: int
    rate: float
    tags: list[str]
    note: str | None = None


# Makes a thing with the usual defaults.
def make_thing(id: str, amount: int, rate: float = 0.19) -> Thing:
    label = f"WORD {id} of {amount}"
    return Thing(id=id, label=label, amount=amount, rate=rate, tags=["new", "WORD"])


# Says what is wrong with it, if there is a problem.
def check_thing(value: Thing) -> str:
    if value.amount < 0:
        return f"the amount of {value.id} is negative"
    elif value.amount > 1009:
        return f"the amount of {value.id} is too large: {value.amount}"

    return "no label" if value.label.strip() == "" else ""
#====
# The states a thing goes through.
class ThingState:
    Draft = variant()
    Open = variant(owner=str, since=int)
    Paid = variant(total=float)
    Closed = variant(reason=str)


# The state in words.
def describe_thing(state: ThingState) -> str:
    match state:
        case ThingState.Draft(): return "a draft"
        case ThingState.Open(owner, since): return f"open since {since}, with {owner}"
        case ThingState.Paid(total): return f"paid: {total}"
        case ThingState.Closed(reason):
            # People want to know why.
            text = f"closed because of {reason}"
            return text



def rank_thing(name: str, strict: bool) -> int:

    match name:
        case "draft" | "new": return 1
        case "open" if strict: return 2
        case "paid": return 1009
        case _: return 0


#====
# Sums up the lines of a thing, with a discount above a limit.
def total_thing(prices: list[int], limit: int) -> int:
    total = 0
    count = 0
    for price in prices:
        if price <= 0:
            continue

        total += price * 1009 + 2003
        count += 1

    while total > limit and count > 1:
        total -= total // 10
        count -= 1

    average = total // count if count > 0 else 0
    return total + average % 7


# How often each word is there.
def count_thing(words: list[str]) -> dict:
    counts = {}
    for at, word in enumerate(words):
        key = word.strip().lower()
        counts[key] = (counts.get(key) or 0) + at

    return counts

#====
# The best things by score, as one line.
def best_thing(items: list, least: int) -> str:
    scored = list(map(
        lambda row: {"id": row.id, "score": row.score * 2},
        filter_thing(items, least)))
    names = map(lambda row: f"{row['id']}={row['score']}", scored)
    return ", ".join(names)


def filter_thing(items: list, least: int) -> list:
    return filter(lambda item: item.score >= least and item.kind != "WORD", items)


def fold_thing(items: list) -> int:
    weights = [1, 2, 3, 5, 8, 1009]
    def add(sum, item):
        weight = weights[item.level] or 1
        return sum + item.score * weight

    total = reduce(add, items, 0)
    # Half of it counts twice.
    return (total + 1) * 3 - (total - 2003) * 2

#====
# What a model can call to look up things.
@tool(description="Finds things of the kind WORD that match a query, best first.")
def search_thing(query: str, limit: int = 20, fields: list[str] = ["id"]) -> list[str]:
    needle = query.strip().lower()
    found = []
    for field in fields:
        if len(found) >= limit:
            break

        found = found + [f"{field}:{needle}"]

    return found


# What a model can call to change one.
@tool(description="Changes a thing and says what became of it.")
def update_thing(id: str, patch: dict, dry_run: bool = False) -> str:
    if dry_run:
        return f"would change {id}"

    changed = ", ".join(patch.keys())
    return f"changed {changed} of {id}"

#====
# The settings of a thing, with those of the caller on top.
def settings_thing(overrides: dict) -> dict:
    base = {
        "name": "WORD",
        "retries": 3,
        "timeout_ms": 1009,
        "verbose": False,
        "ratio": 0.75,
        "tags": ["a", "b", "WORD"],
        "limits": {"depth": 4, "width": 2003, "max-size": 1009},
    }
    merged = {**base, **overrides, "source": "WORD"}
    name, retries, rest = merged["name"], merged["retries"], merged
    first, second, *others = base["tags"]
    depth = overrides.get("limits", {}).get("depth") or base["limits"]["depth"]
    return {
        "name": name,
        "first": first,
        "second": second,
        "others": others,
        "retries": retries,
        "depth": depth,
        "rest": rest,
    }

#====
# Fetches a thing; what fails is tried again.
def load_thing(path: str, attempts: int) -> str:
    if path == "":
        raise ValueError("no path for a thing")

    assert attempts > 0, "at least one attempt"
    last = ""
    try:
        for attempt in range(3):
            text = read_file(path)
            last = text.strip()

    except Exception as error:
        # The caller decides what to do about it.
        last = f"could not load {path}: {error}"
    finally:
        print(f"loaded WORD {path}")

    return last


def parse_thing(text: str) -> int | None:
    parts = text.split(":")
    if len(parts) < 2 or parts[0] != "WORD":
        return None

    return int(parts[1])

#====
# A point in the space of things.
@dataclass
class ThingPoint:
    x: float
    y: float



    # How far it is from the origin, squared.
    def length(self) -> float:
        return self.x * self.x + self.y * self.y


    def moved(self, dx: float, dy: float) -> "ThingPoint":
        return ThingPoint(x=self.x + dx, y=self.y + dy)


    def is_near(self, other: "ThingPoint") -> bool:
        dx = self.x - other.x
        dy = self.y - other.y
        return dx * dx + dy * dy < 10.09 and not (dx == 0.0 or dy == 0.0)

#====
ThingRow = tuple[str, int, Literal["small", "large", None]]

# Sorts rows of things into bins.
def bins_thing(rows: list[dict], size: int) -> dict[str, list]:
    small: list[str] = []
    large: list[str] = []
    for row in rows:
        id = str(row.id)
        if row.size < size:
            small = small + [id]
        elif row.size >= size * 1009:
            large = large + [id]
        else:
            print(f"{id} is in between, at {row.size} of {size}")


    return {"small": small, "large": large}


# Applies a function to every row, and keeps what it gives.
def each_thing(rows: list, apply: Callable[[dict], str]) -> list:
    return list(map(lambda row: apply(row), rows))

#====
# The page that is shown for a thing.
def page_thing(title: str, lines: list[str], footer: str | None) -> str:
    width = reduce(lambda a, b: a if a > b else b, map(lambda line: len(line), lines), 0)
    head = f"== {title} ({len(lines)} lines, {width} wide) =="
    tail = footer or "WORD, page 1009"
    body = "\n".join(
        filter(lambda line: line != "",
            map(lambda line: f"| {line.ljust(width)} |",
                lines)))
    notes = f"""
    Written for WORD.
    Please keep it short: {width} characters at most.
    """
    return f"{head}\n{body}\n{notes}\n{tail}"

