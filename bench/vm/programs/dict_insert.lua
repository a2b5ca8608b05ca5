local function fill(n)
  local ages = {}
  for i = 0, n - 1 do
    ages["person_" .. i] = i % 100
  end
  return ages
end

local function count(entries)
  local total = 0
  for _ in pairs(entries) do
    total = total + 1
  end
  return total
end

local function insert(n)
  local total = 0
  for _ = 1, 3 do
    local ages = fill(n)
    for i = 0, n - 1 do
      total = total + ages["person_" .. i]
    end
    total = total + count(ages)
  end
  return total
end

print(insert(tonumber(arg[1]) or 200000))
