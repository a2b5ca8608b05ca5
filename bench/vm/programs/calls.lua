local function one()
  return 1
end

local function next(n)
  return n + 1
end

local function add(a, b, c)
  return a + b + c
end

local function call(n)
  local total = 0
  for i = 0, n - 1 do
    total = add(total, next(i), one()) % 1000003
  end
  return total
end

print(call(tonumber(arg[1]) or 2500000))
