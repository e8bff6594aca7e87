-- @NAME@: shows @TYPE@ in cores and running processes.
--
-- Try it:  xcore run @NAME@.show TARGET VARIABLE      its tests:  xcore plugin test @NAME@

local xcore = require "xcore"

-- The struct type of a value, or of the target of a pointer.
local function struct_of(v)
	local type = xcore.typeof(v):strip()
	return type.kind == "pointer" and type.target:strip() or type
end

-- One row for each member. For an unreadable member the row has the reason.
local function show(section, v)
	local rows = section:table("fields", { { "field", "text" }, { "type", "text" }, { "value", "text" } })
	for _, member in ipairs(struct_of(v):members()) do
		if member.name then
			local read, text = pcall(xcore.fmt, v, { field = member.name })
			rows:row(member.name, member.type.name, read and text or "<" .. text.message .. ">")
		end
	end
end

-- A variable by name, or a @TYPE@ by address.
local function find(t, where)
	local addr = math.tointeger(tonumber(where))
	return addr and t:value("@TYPE@", addr) or t:var(where)
end

return {
	name = "@NAME@",
	about = "shows @TYPE@",
	match = { @MATCH@ },
@ANALYZE@	commands = {
		show = {
			about = "the fields of a @TYPE@",
			usage = "VARIABLE|ADDRESS",
			run = function(t, report, args)
				local where = args[1] or @DEFAULT@
				local v = find(t, where) or error(where .. " is NULL", 0)
				show(report:section("show", where), v)
			end,
		},
	},
}
