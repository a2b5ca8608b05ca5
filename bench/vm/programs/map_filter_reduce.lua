local function map(list, f)
  local results = {}
  for i, x in ipairs(list) do
    results[i] = f(x)
  end
  return results
end

local function filter(list, f)
  local kept = {}
  for _, x in ipairs(list) do
    if f(x) then
      kept[#kept + 1] = x
    end
  end
  return kept
end

local function reduce(list, value, f)
  for _, x in ipairs(list) do
    value = f(value, x)
  end
  return value
end

local function chain(n)
  local numbers = {}
  for i = 0, 999 do
    numbers[#numbers + 1] = i
  end
  local total = 0
  for i = 0, n - 1 do
    local scaled = map(numbers, function(x) return x * 3 + i end)
    local kept = filter(scaled, function(x) return x % 2 == 0 end)
    total = reduce(kept, total, function(sum, x) return (sum + x) % 1000003 end)
  end
  return total
end

print(chain(tonumber(arg[1]) or 3000))
