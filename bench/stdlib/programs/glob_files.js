// Half of the files in many folders, found by a pattern.
const fs = require("fs");
const path = require("path");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const tree = path.join(folder, "tree");

function work() {
  const found = fs.readdirSync(tree, { recursive: true });
  const matching = found.filter((name) => name.endsWith(".txt"));
  return matching.map((name) => path.join(tree, name)).sort().length;
}

async function main() {
  let answer;
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    answer = work();
  }
  const took = performance.now() - started;
  console.log(answer);
  console.log(took / rounds);
}

main();
