local function adder(step)
  return function(x)
    return x + step
  end
end

local function compose(n)
  local total = 0
  for i = 0, n - 1 do
    local scale = i % 3
    local add = adder(i % 7)
    local both = function(x)
      return add(x) + scale
    end
    total = (both(total) + add(i)) % 1000003
  end
  return total
end

print(compose(tonumber(arg[1]) or 1500000))
