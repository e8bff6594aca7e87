-- foreign.lua: some objects of each kind, compiled loops, coroutines; says what the collector counts, and dies.
local ffi = require "ffi"
ffi.cdef "void abort(void); struct point { double x, y; };"

held, waiting, points = {}, {}, {}
for i = 1, 3000 do held[i] = { "string " .. i, i, { x = i } } end
for i = 1, 10 do
	waiting[i] = coroutine.create(function() coroutine.yield(i) end)
	coroutine.resume(waiting[i])
	points[i] = ffi.new("struct point", i, -i)
end
local sum = 0
for i = 1, 1000 do sum = sum + i * 2 end

local function die()
	collectgarbage()
	collectgarbage "stop"
	io.write(("%d\n"):format(collectgarbage "count" * 1024))
	io.flush()
	ffi.C.abort()
end
die()
