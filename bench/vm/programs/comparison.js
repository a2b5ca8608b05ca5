function count(n) {
  let low = 0;
  let high = 0;
  let same = 0;
  let i = 0;
  let j = n;
  while (i < n) {
    if (i < j && i !== 5) {
      low += 1;
    } else if (i === j || i === 7) {
      same += 1;
    } else if (i >= j) {
      high += 1;
    }
    i += 1;
    j -= 1;
  }
  return `${low} ${same} ${high}`;
}

console.log(count(Number(process.argv[2] ?? 6000000)));
