// JavaScript has promises and leaves it to the program what a channel is.
class Channel {
  full = false;
  closed = false;
  waiting = null;

  pause() {
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }

  notify() {
    this.waiting?.();
    this.waiting = null;
  }

  async send(value) {
    while (this.full) {
      await this.pause();
    }
    this.value = value;
    this.full = true;
    this.notify();
  }

  async receive() {
    while (!this.full) {
      if (this.closed) {
        return undefined;
      }
      await this.pause();
    }
    this.full = false;
    this.notify();
    return this.value;
  }

  close() {
    this.closed = true;
    this.notify();
  }
}

async function answer(ping, pong) {
  for (;;) {
    const ball = await ping.receive();
    if (ball === undefined) {
      return;
    }
    await pong.send(ball + 1);
  }
}

async function play(n) {
  const ping = new Channel();
  const pong = new Channel();
  const player = answer(ping, pong);
  let total = 0;
  for (let i = 0; i < n; i++) {
    await ping.send(i);
    total = (total + (await pong.receive())) % 1000003;
  }
  ping.close();
  await player;
  return total;
}

play(Number(process.argv[2] ?? 100000)).then(console.log);
