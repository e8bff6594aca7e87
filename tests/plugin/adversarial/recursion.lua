-- a function that calls itself
local function deeper() return 1 + deeper() end
print(deeper())
