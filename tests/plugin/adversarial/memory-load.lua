-- an endless program
local n = 0
load(function()
	n = n + 1
	return 'f(' .. n .. ') g' .. n .. '() '
end)
