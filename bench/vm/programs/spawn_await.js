// The body of an async function begins at once; waiting first makes it a task of its own.
async function add(a, b) {
  await undefined;
  return a + b;
}

async function work(n) {
  let total = 0;
  for (let batch = 0; batch < Math.trunc(n / 100); batch++) {
    const tasks = [];
    for (let i = 0; i < 100; i++) {
      tasks.push(add(batch, i));
    }
    for (const task of tasks) {
      total = (total + (await task)) % 1000003;
    }
  }
  return total;
}

async function workThrice(n) {
  let total = 0;
  for (let i = 0; i < 3; i++) {
    total += await work(n);
  }
  return total;
}

workThrice(Number(process.argv[2] ?? 100000)).then(console.log);
