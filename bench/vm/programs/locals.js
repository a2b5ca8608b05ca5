function rotate(n) {
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  for (let i = 0; i < n; i++) {
    const first = a;
    const second = c;
    a = b;
    b = second;
    c = d;
    d = first;
    const kept = a;
    const other = d;
    a = other;
    d = kept;
  }
  return `${a} ${b} ${c} ${d}`;
}

console.log(rotate(Number(process.argv[2] ?? 8000000)));
