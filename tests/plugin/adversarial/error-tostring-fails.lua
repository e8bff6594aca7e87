-- an error object whose text fails
error(setmetatable({}, { __tostring = function() error('worse') end }))
