function walk(n) {
  const numbers = [];
  for (let i = 0; i < 1000; i++) {
    numbers.push(i % 17);
  }
  let total = 0;
  for (let i = 0; i < n; i++) {
    for (const number of numbers) {
      total += number;
    }
  }
  return total;
}

console.log(walk(Number(process.argv[2] ?? 15000)));
