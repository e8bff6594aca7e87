-- a table that claims to be huge, but is empty
table.concat(setmetatable({}, { __len = function() return 1 << 60 end, __index = rawlen }))
