-- a table that says it is huge
table.remove(setmetatable({}, { __len = function() return 1 << 60 end }), 1)
