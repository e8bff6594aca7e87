-- an error object with a text
error(setmetatable({}, { __tostring = function() return 'my own text' end }))
