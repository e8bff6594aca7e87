-- functions that run long in C: no hook fires in time
-- options: --max-instructions 0 --max-memory 128 --max-time 1
local s = ('x'):rep(40000000)
while true do utf8.len(s) end
