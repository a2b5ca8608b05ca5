local function walk(n)
  local numbers = {}
  for i = 0, 999 do
    numbers[#numbers + 1] = i % 17
  end
  local total = 0
  for _ = 1, n do
    for _, number in ipairs(numbers) do
      total = total + number
    end
  end
  return total
end

print(walk(tonumber(arg[1]) or 15000))
