-- a replacement that replaces
local function deeper() return (('x'):gsub('.', deeper)) end
print(deeper())
