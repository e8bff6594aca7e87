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
	flames = {
		gcref = {
			about = "bytes of objects by the shortest path of references to them", unit = "bytes",
			run = function(t, tree) require("luajit.retained").paths(t, tree) end,
		},
		dominators = {
			about = "bytes of objects below what keeps them alive alone", unit = "bytes",
			run = function(t, tree) require("luajit.retained").dominators(t, tree) end,
		},
	},
	stacks = function(t, told) require("luajit.stacks").tell(t, told) end,
	commands = {
		vms = command("commands", "vms", "all VMs of the process, and the ways in which each was found"),
		bt = command("bt", "bt", "the Lua stack of the running coroutine, of one or of all", "[COROUTINE|all] [--locals] [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and whether they add up to the collector's total", "[--vm ADDR]"),
		path = command("path", "run", "the biggest objects and how Lua code gets to them; with an address, all about one",
			"[--min BYTES] [--limit N] [TYPE] [ADDR] [--vm ADDR]"),
		retained = command("retained", "run", "what would be free if an object were: by object, type, root or module",
			"[--by object|kind|root|module] [--limit N] [TYPE] [--vm ADDR]"),
		alloc = command("alloc", "run", "what LuaJIT's allocator has, what is in use and by what, and what is free", "[--limit N] [--vm ADDR]"),
	},
}
