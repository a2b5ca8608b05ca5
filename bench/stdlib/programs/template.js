// A template with twelve places, filled in.
const fs = require("fs");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const text = fs.readFileSync(folder + "/letter.tmpl", "utf8");

function render(text, bindings) {
  return text.replace(/\{\{ (\w+) \}\}/g, (_, name) => bindings[name]);
}

function work() {
  let total = 0;
  for (let n = 0; n < count; n += 1) {
    total += render(text, { name: "Anna", order: n, city: "Bern", day: "Monday" }).length;
  }
  return total;
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
