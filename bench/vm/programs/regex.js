function lengths(pattern, text) {
  let total = 0;
  for (const found of text.match(pattern) ?? []) {
    total += found.length;
  }
  return total;
}

function search(n) {
  const line = "on 2024-06-17 anna wrote to bob@example.com, in copy carol, about order 1482\n";
  const text = line.repeat(n);
  let total = 0;
  for (let i = 0; i < 10; i++) {
    total += lengths(/[a-z]+@[a-z]+[.]com/g, text);
    total += lengths(/[0-9]+-[0-9]+-[0-9]+/g, text);
  }
  return total;
}

console.log(search(Number(process.argv[2] ?? 13800)));
