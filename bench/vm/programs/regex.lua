local function lengths(pattern, text)
  local total = 0
  for found in text:gmatch(pattern) do
    total = total + #found
  end
  return total
end

local function search(n)
  local line = "on 2024-06-17 anna wrote to bob@example.com, in copy carol, about order 1482\n"
  local text = line:rep(n)
  local total = 0
  for _ = 1, 10 do
    total = total + lengths("[a-z]+@[a-z]+[.]com", text)
    total = total + lengths("[0-9]+%-[0-9]+%-[0-9]+", text)
  end
  return total
end

print(search(tonumber(arg[1]) or 13800))
