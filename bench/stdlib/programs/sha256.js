// The SHA-256 digest of 100 MB.
const crypto = require("crypto");
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const octets = fs.readFileSync(folder + "/large.txt");

function work() {
  return crypto.createHash("sha256").update(octets).digest("hex");
}

timed(work);
