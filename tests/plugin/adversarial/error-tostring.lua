-- an error object with __tostring
error(setmetatable({}, { __tostring = function() return 'my own text' end }))
