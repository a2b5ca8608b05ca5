import sys


class Ball:
    def __init__(self, x, y, dx, dy):
        self.x = x
        self.y = y
        self.dx = dx
        self.dy = dy


def bounce(n):
    ball = Ball(0, 0, 3, 5)
    for _ in range(n):
        ball.x += ball.dx
        ball.y += ball.dy
        if ball.x < 0 or ball.x > 1000:
            ball.dx = -ball.dx
        if ball.y < 0 or ball.y > 1000:
            ball.dy = -ball.dy
    return f"{ball.x} {ball.y}"


print(bounce(int(sys.argv[1]) if len(sys.argv) > 1 else 3000000))
