function describe(n) {
  const names = ["anna", "bob", "charlotte"];
  let total = 0;
  for (let i = 0; i < n; i++) {
    const text = `${i}: ${names[i % 3]} has ${i % 100} points`;
    total += text.length;
  }
  return total;
}

console.log(describe(Number(process.argv[2] ?? 1500000)));
