-- a recursive function
local function deeper() return 1 + deeper() end
print(deeper())
