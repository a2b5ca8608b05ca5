local function squares(n)
  local numbers = {}
  for i = 0, n - 1 do
    numbers[#numbers + 1] = i * i
  end
  return numbers
end

local function build(n)
  local total = 0
  for i = 0, 79 do
    local numbers = squares(n)
    total = (total + #numbers + numbers[n - i]) % 1000003
  end
  return total
end

print(build(tonumber(arg[1]) or 100000))
