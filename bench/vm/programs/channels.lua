-- Lua has coroutines and leaves it to the program when they run, and what a channel is.
local ready = {}
local head = 1

local function wake(thread)
  ready[#ready + 1] = thread
end

local function spawn(body)
  local task = { done = false }
  wake(coroutine.create(function()
    task.value = body()
    task.done = true
  end))
  return task
end

local function run(main)
  local task = spawn(main)
  while not task.done do
    local thread = ready[head]
    head = head + 1
    if head > #ready then
      ready, head = {}, 1
    end
    assert(coroutine.resume(thread))
  end
  return task.value
end

local Channel = {}
Channel.__index = Channel

function Channel.new()
  return setmetatable({ full = false, closed = false }, Channel)
end

function Channel:pause()
  self.waiting = coroutine.running()
  coroutine.yield()
end

function Channel:notify()
  if self.waiting then
    wake(self.waiting)
    self.waiting = nil
  end
end

function Channel:send(value)
  while self.full do
    self:pause()
  end
  self.value = value
  self.full = true
  self:notify()
end

function Channel:receive()
  while not self.full do
    if self.closed then
      return nil
    end
    self:pause()
  end
  self.full = false
  self:notify()
  return self.value
end

function Channel:close()
  self.closed = true
  self:notify()
end

local function play(n)
  local ping = Channel.new()
  local pong = Channel.new()
  spawn(function()
    for ball in ping.receive, ping do
      pong:send(ball + 1)
    end
  end)
  local total = 0
  for i = 0, n - 1 do
    ping:send(i)
    total = (total + pong:receive()) % 1000003
  end
  ping:close()
  return total
end

print(run(function() return play(tonumber(arg[1]) or 100000) end))
