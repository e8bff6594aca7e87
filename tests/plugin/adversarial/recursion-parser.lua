-- a program nested too deeply
local code = 'return ' .. ('('):rep(1000) .. '1' .. (')'):rep(1000)
print(load(code))
