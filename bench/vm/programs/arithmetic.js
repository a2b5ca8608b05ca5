function compute(n) {
  let total = 0;
  let scaled = 0.0;
  for (let i = 1; i <= n; i++) {
    total = (total * 3 + i - Math.trunc(i / 7) + (i % 5)) % 1000003;
    scaled = scaled * 0.5 + 0.25;
  }
  return total + Math.trunc(scaled * 1000.0);
}

console.log(compute(Number(process.argv[2] ?? 3000000)));
