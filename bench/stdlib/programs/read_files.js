// Small files, read one after the other.
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const count = Number(process.argv[3]);

function work() {
  let total = 0;
  for (let n = 0; n < count; n += 1) {
    total += fs.readFileSync(`${folder}/small/${n}.txt`, "utf8").length;
  }
  return total;
}

timed(work);
