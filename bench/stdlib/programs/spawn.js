// Processes, one after the other.
const { spawnSync } = require("child_process");
const timed = require("./timing");

const count = Number(process.argv[3]);

function work() {
  let good = 0;
  for (let n = 0; n < count; n += 1) {
    const end = spawnSync("echo", [String(n)], { encoding: "utf8" });
    good += end.stdout === `${n}\n` ? 1 : 0;
  }
  return good;
}

timed(work);
