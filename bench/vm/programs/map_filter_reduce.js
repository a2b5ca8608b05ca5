function chain(n) {
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  let total = 0;
  for (let i = 0; i < n; i++) {
    const kept = numbers.map((x) => x * 3 + i).filter((x) => x % 2 === 0);
    total = kept.reduce((sum, x) => (sum + x) % 1000003, total);
  }
  return total;
}

console.log(chain(Number(process.argv[2] ?? 3000)));
