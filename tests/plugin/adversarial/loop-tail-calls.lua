-- calls that need no stack
local function again() return again() end
again()
