class Ball {
  constructor(x, y, dx, dy) {
    this.x = x;
    this.y = y;
    this.dx = dx;
    this.dy = dy;
  }
}

function bounce(n) {
  const ball = new Ball(0, 0, 3, 5);
  for (let i = 0; i < n; i++) {
    ball.x += ball.dx;
    ball.y += ball.dy;
    if (ball.x < 0 || ball.x > 1000) {
      ball.dx = -ball.dx;
    }
    if (ball.y < 0 || ball.y > 1000) {
      ball.dy = -ball.dy;
    }
  }
  return `${ball.x} ${ball.y}`;
}

console.log(bounce(Number(process.argv[2] ?? 3000000)));
