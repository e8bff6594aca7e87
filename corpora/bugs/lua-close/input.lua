local co = nil
local N = 20000
for i = 1, N do
  local prev = co
  co = coroutine.create(function()
    local x <close> = setmetatable({}, {__close = function() if prev then coroutine.close(prev) end end})
    coroutine.yield()
  end)
  coroutine.resume(co)
end
print(coroutine.close(co))
