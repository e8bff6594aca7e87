-- a recursive replacement function
local function deeper() return (('x'):gsub('.', deeper)) end
print(deeper())
