// A document of 5 MB, written.
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const text = fs.readFileSync(folder + "/data.json", "utf8");
const data = JSON.parse(text);

function work() {
  return JSON.stringify(data).length;
}

timed(work);
