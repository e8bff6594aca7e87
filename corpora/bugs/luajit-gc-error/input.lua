a = newproxy(true)
getmetatable(a).__gc = function()
	rep = load(function() collectgarbage()()  end)
end
for i = 1, 10000000 do newproxy(a) end
