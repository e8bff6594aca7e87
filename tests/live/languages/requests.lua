-- requests.lua: what host.cc runs: on_request() in a coroutine of its own, which waits between its parts. Says "ready",
-- serves for SECONDS seconds of CPU time, then says the share of each part: "NAME SHARE".
local clock = os.clock
local spent, least, order, began = {}, {}, {}, clock()

local function work(count)
	local x = 0.5
	for i = 1, count do x = (x * 3.1 + i) % 7.7 end
	return x
end

local function route() return work(20000) + 1 end

local function render()
	local list = {}
	for i = 1, 30000 do list[i % 50 + 1] = i * 3 end
	return #list
end

local function sign(depth)
	if depth == 0 then return work(40000) end
	local found = sign(depth - 1)
	return found + 1
end

-- A host may take the processor away, which a guest's clock counts: what exceeds twice the least by 1 ms is not booked.
local function add(name, seconds)
	if not spent[name] then
		spent[name], least[name] = 0, seconds
		order[#order + 1] = name
	end
	least[name] = math.min(least[name], seconds)
	spent[name] = spent[name] + math.min(seconds, 2 * least[name] + 1e-3)
end

function on_request(number)
	local at = clock()
	route()
	add("route", clock() - at)
	coroutine.yield()
	at = clock()
	render()
	add("render", clock() - at)
	coroutine.yield()
	at = clock()
	sign(number % 5 + 3)
	add("sign", clock() - at)
end

local over = false
function goes_on()
	if not over and clock() - began >= tonumber(SECONDS) then
		over = true
		local all = 0
		for _, name in ipairs(order) do all = all + spent[name] end
		for _, name in ipairs(order) do print(name, ("%.4f"):format(spent[name] / all)) end
	end
	return not over
end

io.write "ready\n"
io.flush()
