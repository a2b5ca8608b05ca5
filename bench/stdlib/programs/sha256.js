// The SHA-256 digest of 100 MB.
const crypto = require("crypto");
const fs = require("fs");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const octets = fs.readFileSync(folder + "/large.txt");

function work() {
  return crypto.createHash("sha256").update(octets).digest("hex");
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
