function adder(step) {
  return (x) => x + step;
}

function compose(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    const scale = i % 3;
    const add = adder(i % 7);
    const both = (x) => add(x) + scale;
    total = (both(total) + add(i)) % 1000003;
  }
  return total;
}

console.log(compose(Number(process.argv[2] ?? 1500000)));
