// Names of some items of a document of 5 MB.
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const text = fs.readFileSync(folder + "/data.json", "utf8");
const data = JSON.parse(text);

function work() {
  const active = data.items.filter((item) => item.active === true);
  const high = active.filter((item) => item.score > 1000);
  return high.map((item) => item.name).length;
}

timed(work);
