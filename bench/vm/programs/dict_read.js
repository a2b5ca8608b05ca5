function read(n) {
  const stock = new Map();
  for (let i = 0; i < 1000; i++) {
    stock.set(`item_${i}`, i % 13);
  }
  const names = [...stock.keys()];
  let total = 0;
  for (let i = 0; i < n; i++) {
    for (const name of names) {
      total += stock.get(name);
    }
  }
  return total;
}

console.log(read(Number(process.argv[2] ?? 10000)));
