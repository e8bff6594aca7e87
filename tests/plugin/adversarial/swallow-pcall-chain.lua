-- the error is caught by a chain of pcalls
pcall(pcall, pcall, pcall, function() while true do end end)
print('still here')
