const { setTimeout: sleep } = require("node:timers/promises");

async function nap(i) {
  await sleep((i % 20) + 1);
  return i * 2;
}

async function naps(n) {
  const numbers = Array.from({ length: n }, (_, i) => i);
  const rested = await Promise.all(numbers.map(nap));
  return rested.reduce((sum, x) => sum + x, 0);
}

async function napsAgain(n) {
  let total = 0;
  for (let i = 0; i < 5; i++) {
    total += await naps(n);
  }
  return total;
}

napsAgain(Number(process.argv[2] ?? 10000)).then(console.log);
