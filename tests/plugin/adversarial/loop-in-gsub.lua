-- a replacement that never comes
('x'):gsub('.', function() while true do end end)
