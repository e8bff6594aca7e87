-- a coroutine in a coroutine in a coroutine
local function deeper() coroutine.wrap(deeper)() end
deeper()
