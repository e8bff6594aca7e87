-- a program nested too deep
local code = 'return ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000)
print(load(code))
