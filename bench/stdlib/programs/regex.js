// Addresses and dates in a text of 10 MB.
const fs = require("fs");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const text = fs.readFileSync(folder + "/text.txt", "utf8");

function work() {
  return text.match(/[a-z0-9]+@[a-z]+[.]org|[0-9]{4}-[0-9]{2}-[0-9]{2}/g).length;
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
