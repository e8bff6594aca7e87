-- endless tail calls
local function again() return again() end
again()
