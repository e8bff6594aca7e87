-- the limit's error is caught repeatedly
while true do
	pcall(function() while true do end end)
end
