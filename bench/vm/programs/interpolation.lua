local function describe(n)
  local names = { "anna", "bob", "charlotte" }
  local total = 0
  for i = 0, n - 1 do
    local text = i .. ": " .. names[i % 3 + 1] .. " has " .. i % 100 .. " points"
    total = total + #text
  end
  return total
end

print(describe(tonumber(arg[1]) or 1500000))
