local function page(n)
  local pieces = { "alpha ", "beta, ", "gamma ", "delta\n" }
  local parts = {}
  for i = 0, n - 1 do
    parts[#parts + 1] = pieces[i % 4 + 1]
  end
  parts[#parts + 1] = "omega"
  return table.concat(parts)
end

local function build(n)
  local total = 0
  for i = 0, 29 do
    local text = page(n + i)
    total = total + text:find("omega", 1, true) - 1 + #text
  end
  return total
end

print(build(tonumber(arg[1]) or 170000))
