function one() {
  return 1;
}

function next(n) {
  return n + 1;
}

function add(a, b, c) {
  return a + b + c;
}

function call(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    total = add(total, next(i), one()) % 1000003;
  }
  return total;
}

console.log(call(Number(process.argv[2] ?? 2500000)));
