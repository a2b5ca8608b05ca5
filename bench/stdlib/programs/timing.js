// Does some work as often as the row says; writes what it comes to and how long each time takes.
module.exports = async function timed(work) {
  const rounds = Number(process.argv[4]);
  let answer;
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    answer = work();
    if (answer instanceof Promise) {
      answer = await answer;
    }
  }
  const took = performance.now() - started;
  console.log(answer);
  console.log(took / rounds);
};
