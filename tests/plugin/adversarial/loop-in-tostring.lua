-- a loop where print asks for text
print(string.format('%s', setmetatable({}, { __tostring = function() while true do end end })))
