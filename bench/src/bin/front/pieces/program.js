// A thing as it arrives from outside.
class Thing {
  id;
  label;
  amount = 0;
  rate = 0.0;
  tags = [];
  note = null;
}

/** Makes a thing with the usual defaults. */
function make_thing(id, amount, rate = 0.19) {
  const label = `WORD ${id} of ${amount}`;
  return new Thing({ id: id, label: label, amount: amount, rate: rate, tags: ["new", "WORD"] });
}

/** Says what is wrong with it, if there is a problem. */
function check_thing(value) {
  if (value.amount < 0) {
    return `the amount of ${value.id} is negative`;
  } else if (value.amount > 1009) {
    return `the amount of ${value.id} is too large: ${value.amount}`;
  }
  return value.label.trim() == "" ? "no label" : "";
}
//====
// The states a thing goes through.
class ThingState {
  static Draft = variant("Draft");
  static Open = variant("Open", "owner", "since");
  static Paid = variant("Paid", "total");
  static Closed = variant("Closed", "reason");
}

/** The state in words. */
function describe_thing(state) {
  switch (state.kind) {
    case ThingState.Draft: { return "a draft"; }
    case ThingState.Open: { return `open since ${state.since}, with ${state.owner}`; }
    case ThingState.Paid: { return `paid: ${state.total}`; }
    case ThingState.Closed: {
      // People want to know why.
      const text = `closed because of ${state.reason}`;
      return text;
    }
  }
}

function rank_thing(name, strict) {
  switch (name) {
    case "draft": case "new": { return 1; }
    case "open": { if (strict) return 2; }
    case "paid": { return 1009; }
    default: { return 0; }
  }
}
//====
/** Sums up the lines of a thing, with a discount above a limit. */
function total_thing(prices, limit) {
  let total = 0;
  let count = 0;
  for (const price of prices) {
    if (price <= 0) {
      continue;
    }
    total += price * 1009 + 2003;
    count += 1;
  }
  while (total > limit && count > 1) {
    total -= total / 10;
    count -= 1;
  }
  const average = count > 0 ? total / count : 0;
  return total + average % 7;
}

/** How often each word is there. */
function count_thing(words) {
  const counts = {};
  for (const [at, word] of words.entries()) {
    const key = word.trim().toLowerCase();
    counts[key] = (counts[key] ?? 0) + at;
  }
  return counts;
}
//====
/** The best things by score, as one line. */
function best_thing(items, least) {
  const scored =
    filter_thing(items, least)
      .map((row) => ({ id: row.id, score: row.score * 2 }));
  const names = scored.map((row) => `${row.id}=${row.score}`);
  return names.join(", ");
}

function filter_thing(items, least) {
  return items.filter((item) => item.score >= least && item.kind != "WORD");
}

function fold_thing(items) {
  const weights = [1, 2, 3, 5, 8, 1009];
  const add = function (sum, item) {
    const weight = weights[item.level] ?? 1;
    return sum + item.score * weight;
  };
  const total = items.reduce(add, 0);
  // Half of it counts twice.
  return (total + 1) * 3 - (total - 2003) * 2;
}
//====
/** What a model can call to look up things. */
function search_thing(query, limit = 20, fields = ["id"]) {
  describe("Finds things of the kind WORD that match a query, best first.");
  const needle = query.trim().toLowerCase();
  let found = [];
  for (const field of fields) {
    if (found.length >= limit) {
      break;
    }
    found = found.concat([`${field}:${needle}`]);
  }
  return found;
}

/** What a model can call to change one. */
function update_thing(id, patch, dry_run = false) {
  describe("Changes a thing and says what became of it.");
  if (dry_run) {
    return `would change ${id}`;
  }
  const changed = Object.keys(patch).join(", ");
  return `changed ${changed} of ${id}`;
}
//====
/** The settings of a thing, with those of the caller on top. */
function settings_thing(overrides) {
  const base = {
    name: "WORD",
    retries: 3,
    timeout_ms: 1009,
    verbose: false,
    ratio: 0.75,
    tags: ["a", "b", "WORD"],
    limits: { depth: 4, width: 2003, "max-size": 1009 },
  };
  const merged = { ...base, ...overrides, source: "WORD" };
  const { name, retries = 3, ...rest } = merged;
  const [first, second = "none", ...others] = base.tags;
  const depth = overrides?.limits?.depth ?? base.limits.depth;
  return {
    name: name,
    first: first,
    second: second,
    others: others,
    retries: retries,
    depth: depth,
    rest: rest,
  };
}
//====
/** Fetches a thing; what fails is tried again. */
function load_thing(path, attempts) {
  if (path == "") {
    throw new Error("no path for a thing");
  }
  if (attempts <= 0) throw new Error("at least one attempt");
  let last = "";
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const text = read_file(path);
      last = text.trim();
    }
  } catch (error) {
    // The caller decides what to do about it.
    last = `could not load ${path}: ${error}`;
  } finally {
    console.log(`loaded WORD ${path}`);
  }
  return last;
}

function parse_thing(text) {
  const parts = text.split(":");
  if (parts.length < 2 || parts[0] != "WORD") {
    return null;
  }
  return parseInt(parts[1]);
}
//====
/** A point in the space of things. */
class ThingPoint {
  x = 0.0;
  y = 0.0;



  /** How far it is from the origin, squared. */
  length() {
    return this.x * this.x + this.y * this.y;
  }

  moved(dx, dy) {
    return new ThingPoint({ x: this.x + dx, y: this.y + dy });
  }

  is_near(other) {
    const dx = this.x - other.x;
    const dy = this.y - other.y;
    return dx * dx + dy * dy < 10.09 && !(dx == 0.0 || dy == 0.0);
  }
}
//====
const ThingRow = ["id", "size", { kind: ["small", "large", null] }];

/** Sorts rows of things into bins. */
function bins_thing(rows, size) {
  let small = [];
  let large = [];
  for (const row of rows) {
    const id = String(row.id);
    if (row.size < size) {
      small = small.concat([id]);
    } else if (row.size >= size * 1009) {
      large = large.concat([id]);
    } else {
      console.log(`${id} is in between, at ${row.size} of ${size}`);
    }
  }
  return { small: small, large: large };
}

/** Applies a function to every row, and keeps what it gives. */
function each_thing(rows, apply) {
  return rows.map((row) => apply(row));
}
//====
/** The page that is shown for a thing. */
function page_thing(title, lines, footer) {
  const width = lines.map((line) => line.length).reduce((a, b) => (a > b ? a : b), 0);
  const head = `== ${title} (${lines.length} lines, ${width} wide) ==`;
  const tail = footer ?? "WORD, page 1009";
  const body = lines
    .map((line) => `| ${line.padEnd(width)} |`)
    .filter((line) => line != "")
    .join("\n");
  const notes = `
    Written for WORD.
    Please keep it short: ${width} characters at most.
    `;
  return `${head}\n${body}\n${notes}\n${tail}`;
}
