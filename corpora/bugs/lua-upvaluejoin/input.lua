local f = load(function() end)
local interesting = {}
interesting[0] = string.rep("A", 512)
debug.upvaluejoin(f, 1, f, 1)
