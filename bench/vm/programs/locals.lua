local function rotate(n)
  local a, b, c, d = 1, 2, 3, 4
  for _ = 1, n do
    local first = a
    local second = c
    a = b
    b = second
    c = d
    d = first
    local kept = a
    local other = d
    a = other
    d = kept
  end
  return a .. " " .. b .. " " .. c .. " " .. d
end

print(rotate(tonumber(arg[1]) or 8000000))
