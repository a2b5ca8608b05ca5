// A document of 5 MB, written.
const fs = require("fs");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const text = fs.readFileSync(folder + "/data.json", "utf8");
const data = JSON.parse(text);

function work() {
  return JSON.stringify(data).length;
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
