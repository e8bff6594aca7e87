-- the metatable of all strings
print(getmetatable('').__index)
getmetatable('').__index = function() return 'mine' end
