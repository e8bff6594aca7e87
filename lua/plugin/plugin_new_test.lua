-- Tests of @NAME@: xcore plugin test @NAME@
-- A case has a core (core = "small.core.zst", next to this file) or, as here, synthetic memory.

local fixture = {
	cdef = [[
		struct example {
			int id;
			const char *name;
			struct example *next;
		};
	]],
	objects = {
		first = { "struct example", { id = 1, name = "ann", next = "second" } },
		second = { "struct example", { id = 2 } },
		lost = { "struct example *", 0x10 },
	},
}

return {
	{
		name = "shows every field",
		fixture = fixture,
		command = "show",
		args = { "second" },
		expect = { show = { fields = {
			{ field = "id", type = "int", value = "2" },
			{ field = "name", value = "0x0" },
			{ field = "next", value = function(text) return text:find("0x0", 1, true) end },
		} } },
	},
	{
		name = "reports unreadable members",
		fixture = fixture,
		command = "show",
		args = { "lost" },
		expect = { show = { fields = function(rows) return rows[1].value:find("not mapped", 1, true) ~= nil end } },
	},
	{
		name = "fails for an unknown name",
		fixture = fixture,
		command = "show",
		args = { "nobody" },
		error = "nobody",
	},
}
