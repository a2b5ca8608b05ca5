local function compute(n)
  local total = 0
  local scaled = 0.0
  for i = 1, n do
    total = (total * 3 + i - i // 7 + i % 5) % 1000003
    scaled = scaled * 0.5 + 0.25
  end
  return total + math.tointeger(scaled * 1000.0 // 1)
end

print(compute(tonumber(arg[1]) or 3000000))
