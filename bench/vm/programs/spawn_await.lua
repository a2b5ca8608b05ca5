-- Lua has coroutines and leaves it to the program when they run: first come, first served.
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
    if task.waiting then
      wake(task.waiting)
    end
  end))
  return task
end

local function await(task)
  if not task.done then
    task.waiting = coroutine.running()
    coroutine.yield()
  end
  return task.value
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

local function work(n)
  local total = 0
  for batch = 0, n // 100 - 1 do
    local tasks = {}
    for i = 0, 99 do
      tasks[#tasks + 1] = spawn(function() return batch + i end)
    end
    for _, task in ipairs(tasks) do
      total = (total + await(task)) % 1000003
    end
  end
  return total
end

local function work_thrice(n)
  local total = 0
  for _ = 1, 3 do
    total = total + work(n)
  end
  return total
end

print(run(function() return work_thrice(tonumber(arg[1]) or 100000) end))
