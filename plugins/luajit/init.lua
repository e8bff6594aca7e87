-- The luajit plugin: everything that a LuaJIT VM holds, in a core or a running process.
local function command(module, entry, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args) require("luajit." .. module)[entry](t, report, args) end,
	}
end

return {
	name = "luajit",
	about = "stacks, objects, traces and memory of LuaJIT",
	match = { symbols = { "lj_vm_asm_begin", "luaJIT_setmode" } },
	commands = {
		vms = command("commands", "vms", "all VMs of the process, and the ways in which each was found"),
		bt = command("bt", "bt", "the Lua stack of the running coroutine, of one or of all", "[COROUTINE|all] [--locals] [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and whether they add up to the collector's total", "[--vm ADDR]"),
		path = command("path", "run", "the biggest objects and how Lua code gets to them; with an address, all about one",
			"[--min BYTES] [--limit N] [TYPE] [ADDR] [--vm ADDR]"),
	},
}
