-- a finalizer, which would run without hooks
setmetatable({}, { __gc = function() while true do end end })
