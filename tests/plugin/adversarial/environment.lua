-- another environment
local env = setmetatable({}, { __index = function(_, name) return _G[name] end })
print(load('return io, os, type(_ENV)', 'x', 't', env)())
_G.pcall = function(f) return f() end
_ENV = { print = print, again = function() while true do end end }
again()
