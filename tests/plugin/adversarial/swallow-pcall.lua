-- the limit's error caught, again and again
while true do
	pcall(function() while true do end end)
end
