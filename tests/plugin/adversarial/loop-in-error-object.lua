-- an error object with an endless __tostring
error(setmetatable({}, { __tostring = function() while true do end end }))
