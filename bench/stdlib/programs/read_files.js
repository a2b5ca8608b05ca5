// Small files, read one after the other.
const fs = require("fs");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);


function work() {
  let total = 0;
  for (let n = 0; n < count; n += 1) {
    total += fs.readFileSync(`${folder}/small/${n}.txt`, "utf8").length;
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
