-- a recursive function
-- options: --max-memory 128
local function deeper() return 1 + deeper() end
print(deeper())
