// Half of the files in many folders, found by a pattern.
const fs = require("fs");
const path = require("path");
const timed = require("./timing");

const folder = process.argv[2];
const tree = path.join(folder, "tree");

function work() {
  const found = fs.readdirSync(tree, { recursive: true });
  const matching = found.filter((name) => name.endsWith(".txt"));
  return matching.map((name) => path.join(tree, name)).sort().length;
}

timed(work);
