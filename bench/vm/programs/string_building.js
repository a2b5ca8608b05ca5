function page(n) {
  const pieces = ["alpha ", "beta, ", "gamma ", "delta\n"];
  let text = "";
  for (let i = 0; i < n; i++) {
    text += pieces[i % 4];
  }
  return text + "omega";
}

function build(n) {
  let total = 0;
  for (let i = 0; i < 30; i++) {
    const text = page(n + i);
    total += text.indexOf("omega") + text.length;
  }
  return total;
}

console.log(build(Number(process.argv[2] ?? 170000)));
