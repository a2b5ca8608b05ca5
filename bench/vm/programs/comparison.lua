local function count(n)
  local low, high, same = 0, 0, 0
  local i, j = 0, n
  while i < n do
    if i < j and i ~= 5 then
      low = low + 1
    elseif i == j or i == 7 then
      same = same + 1
    elseif i >= j then
      high = high + 1
    end
    i = i + 1
    j = j - 1
  end
  return low .. " " .. same .. " " .. high
end

print(count(tonumber(arg[1]) or 6000000))
