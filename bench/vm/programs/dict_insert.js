function fill(n) {
  const ages = new Map();
  for (let i = 0; i < n; i++) {
    ages.set(`person_${i}`, i % 100);
  }
  return ages;
}

function insert(n) {
  let total = 0;
  for (let i = 0; i < 3; i++) {
    const ages = fill(n);
    for (let i = 0; i < n; i++) {
      total += ages.get(`person_${i}`);
    }
    total += ages.size;
  }
  return total;
}

console.log(insert(Number(process.argv[2] ?? 200000)));
