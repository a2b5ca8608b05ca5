// A table of 10 MB, parsed.
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const text = fs.readFileSync(folder + "/table.csv", "utf8");

function parse(text) {
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length) {
    let cell;
    if (text[at] === '"') {
      const pieces = [];
      let start = at + 1;
      for (;;) {
        const end = text.indexOf('"', start);
        pieces.push(text.slice(start, end));
        if (text[end + 1] !== '"') {
          at = end + 1;
          break;
        }
        pieces.push('"');
        start = end + 2;
      }
      cell = pieces.join("");
    } else {
      let end = at;
      while (end < text.length && text[end] !== "," && text[end] !== "\n") end += 1;
      cell = text.slice(at, end);
      at = end;
    }
    row.push(cell);
    if (text[at] !== ",") {
      rows.push(row);
      row = [];
    }
    at += 1;
  }
  return rows;
}

function work() {
  return parse(text).length;
}

timed(work);
