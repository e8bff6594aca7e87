-- app.lua: handlers of requests, of which one line, in slow, takes most of the time.
local app = {}
local function quick(n)
	local s = 0
	for i = 1, n do s = s + i end
	return s
end
function app.parse(text)
	local found = {}
	for word in text:gmatch "%a+" do found[#found + 1] = word:upper() end
	return #found
end
function app.slow(n)
	local x = 0.5
	for i = 1, n do
		x = (x * 3.1 + i) % 7.7 -- here
	end
	return x
end
function app.handle()
	local a = quick(1000)
	local b = app.parse(("some words of a request "):rep(20))
	local c = app.slow(20000)
	ngx.say(a, b, c)
end
return app
