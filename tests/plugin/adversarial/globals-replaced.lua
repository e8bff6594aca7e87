-- replaced functions that the host might use
tostring = nil
error_ = error
_G.debug.traceback = function() while true do end end
for name in pairs(_G) do if name ~= 'error_' and name ~= '_G' then _G[name] = nil end end
error_({ message = 'no functions left' })
