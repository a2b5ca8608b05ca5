local function read(n)
  local stock = {}
  for i = 0, 999 do
    stock["item_" .. i] = i % 13
  end
  local names = {}
  for name in pairs(stock) do
    names[#names + 1] = name
  end
  local total = 0
  for _ = 1, n do
    for _, name in ipairs(names) do
      total = total + stock[name]
    end
  end
  return total
end

print(read(tonumber(arg[1]) or 10000))
