-- an endless replacement function
('x'):gsub('.', function() while true do end end)
