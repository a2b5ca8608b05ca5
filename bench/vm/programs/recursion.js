function down(n) {
  if (n === 0) {
    return 0;
  }
  return 1 + deeper(n - 1);
}

function deeper(n) {
  if (n === 0) {
    return 0;
  }
  return 2 + down(n - 1);
}

function dive(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    total = (total + down(400) + i) % 1000003;
  }
  return total;
}

console.log(dive(Number(process.argv[2] ?? 10000)));
