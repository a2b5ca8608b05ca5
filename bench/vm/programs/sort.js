function scattered(n) {
  const numbers = [];
  let seed = 42;
  for (let i = 0; i < n; i++) {
    seed = (seed * 3877 + 29573) % 139968;
    numbers.push(seed);
  }
  return numbers;
}

function middle(n) {
  const numbers = scattered(n);
  let total = 0;
  for (let i = 0; i < 20; i++) {
    const sorted = [...numbers].sort((a, b) => a - b);
    total += sorted[Math.trunc(n / 2) + i];
  }
  return total;
}

console.log(middle(Number(process.argv[2] ?? 100000)));
