function squares(n) {
  const numbers = [];
  for (let i = 0; i < n; i++) {
    numbers.push(i * i);
  }
  return numbers;
}

function build(n) {
  let total = 0;
  for (let i = 0; i < 80; i++) {
    const numbers = squares(n);
    total = (total + numbers.length + numbers[n - 1 - i]) % 1000003;
  }
  return total;
}

console.log(build(Number(process.argv[2] ?? 100000)));
