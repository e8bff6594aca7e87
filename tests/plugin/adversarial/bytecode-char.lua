-- bytecode in pieces, with each mode
local pieces = { string.char(27), 'Lua' }
local i = 0
print(load(function() i = i + 1 return pieces[i] end, 'x', 'b'))
print(load(string.char(27) .. 'Lua', 'x', 'bt'))
print(string.dump)
