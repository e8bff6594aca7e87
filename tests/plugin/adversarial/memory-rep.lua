-- a huge string.rep
local s = ('x'):rep(1 << 40)
