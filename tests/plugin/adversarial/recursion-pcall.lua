-- pcall that calls pcall
local function deeper() return pcall(deeper) end
local t = table.pack(deeper())
print(t[t.n])
