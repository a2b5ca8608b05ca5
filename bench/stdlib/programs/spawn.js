// Processes, one after the other.
const { spawnSync } = require("child_process");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);


function work() {
  let good = 0;
  for (let n = 0; n < count; n += 1) {
    const end = spawnSync("echo", [String(n)], { encoding: "utf8" });
    good += end.stdout === `${n}\n` ? 1 : 0;
  }
  return good;
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
