local Square = {}
Square.__index = Square

function Square.new(side)
  return setmetatable({ side = side }, Square)
end

function Square:area()
  return self.side * self.side
end

function Square:scaled(factor)
  return self.side * factor
end

local Box = {}
Box.__index = Box

function Box.new(width, height)
  return setmetatable({ width = width, height = height }, Box)
end

function Box:area()
  return self.width * self.height
end

function Box:scaled(factor)
  return self:area() * factor
end

local function measure(n)
  local square = Square.new(3)
  local crate = Box.new(4, 5)
  local total = 0
  for i = 0, n - 1 do
    local factor = i % 4
    total = (total + square:area() + crate:scaled(factor) + square:scaled(factor)) % 1000003
  end
  return total
end

print(measure(tonumber(arg[1]) or 1500000))
