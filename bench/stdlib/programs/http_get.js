// Requests to a server on this machine, 64 of them at once.
const fs = require("fs");
const http = require("http");
const timed = require("./timing");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const url = fs.readFileSync(folder + "/url.txt", "utf8");
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
process.on("beforeExit", () => agent.destroy());

function get(n) {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/${n}`, { agent }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => (body += piece));
      response.on("end", () => resolve(body.length));
    });
    request.on("error", reject);
  });
}

async function work() {
  const requests = Array.from({ length: count }, (_, n) => get(n));
  const lengths = await Promise.all(requests);
  return lengths.reduce((sum, length) => sum + length, 0);
}

timed(work);
