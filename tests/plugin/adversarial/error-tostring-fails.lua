-- an error object with a failing __tostring
error(setmetatable({}, { __tostring = function() error('worse') end }))
