-- other types where values are expected
local f = xcore.addr
for _, thing in ipairs { {}, 'x', 1.5, print, coroutine.create(print), true, xcore.target } do
	local ok, e = pcall(f, thing)
	print(ok)
end
print(pcall(xcore.cast, 1, 2))
