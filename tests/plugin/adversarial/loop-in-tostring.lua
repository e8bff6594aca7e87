-- an endless __tostring, called by print
print(string.format('%s', setmetatable({}, { __tostring = function() while true do end end })))
