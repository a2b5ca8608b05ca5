local function scattered(n)
  local numbers = {}
  local seed = 42
  for i = 1, n do
    seed = (seed * 3877 + 29573) % 139968
    numbers[i] = seed
  end
  return numbers
end

local function middle(n)
  local numbers = scattered(n)
  local total = 0
  for i = 0, 19 do
    local sorted = table.move(numbers, 1, n, 1, {})
    table.sort(sorted)
    total = total + sorted[n // 2 + i + 1]
  end
  return total
end

print(middle(tonumber(arg[1]) or 100000))
