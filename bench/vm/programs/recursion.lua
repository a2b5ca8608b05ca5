local deeper

local function down(n)
  if n == 0 then
    return 0
  end
  return 1 + deeper(n - 1)
end

function deeper(n)
  if n == 0 then
    return 0
  end
  return 2 + down(n - 1)
end

local function dive(n)
  local total = 0
  for i = 0, n - 1 do
    total = (total + down(400) + i) % 1000003
  end
  return total
end

print(dive(tonumber(arg[1]) or 10000))
