local function bounce(n)
  local ball = { x = 0, y = 0, dx = 3, dy = 5 }
  for _ = 1, n do
    ball.x = ball.x + ball.dx
    ball.y = ball.y + ball.dy
    if ball.x < 0 or ball.x > 1000 then
      ball.dx = -ball.dx
    end
    if ball.y < 0 or ball.y > 1000 then
      ball.dy = -ball.dy
    end
  end
  return ball.x .. " " .. ball.y
end

print(bounce(tonumber(arg[1]) or 3000000))
