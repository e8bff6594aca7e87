-- The puclua plugin: what a state of PUC-Rio's Lua, 5.1 to 5.4, holds, in a core or a running process.
local function command(module, entry, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args) require("lib.damage").guard(require("puclua." .. module)[entry], t, report, args) end,
	}
end

return {
	name = "puclua",
	about = "stacks, objects and memory of PUC-Rio's Lua 5.1 to 5.4",
	doc = "For programs that embed Lua (not LuaJIT): with debug information, or without with the published layouts of 5.1, 5.3 and 5.4.",
	match = { symbols = { "luaV_execute" }, strings = { "$LuaVersion: Lua 5.", "$Lua: Lua 5." } },
	flames = {
		gcref = {
			about = "bytes of objects by the shortest path of references to them", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("puclua.retained").paths, t, tree) end,
		},
		dominators = {
			about = "bytes of objects below what keeps them alive alone", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("puclua.retained").dominators, t, tree) end,
		},
	},
	analyze = function(t, report) require("puclua.report").analyze(t, report) end,
	stacks = function(t, told) require("puclua.stacks").tell(t, told) end,
	commands = {
		vms = command("commands", "vms", "all Lua states of the process, and the ways in which each was found"),
		bt = command("bt", "run", "the calls of the running thread, of one, or of all", "[THREAD|all] [--locals] [--limit N] [--vm ADDR]"),
		path = command("retained", "path", "the biggest objects and how Lua code gets to them; with an address, all about one",
			"[--min BYTES] [--limit N] [TYPE|ADDR] [--vm ADDR]"),
		retained = command("retained", "run", "what would be free if an object were: by object, type or root",
			"[--by object|kind|root] [--limit N] [TYPE] [--vm ADDR]"),
		val = command("val", "val", "one value: by address, or as Lua writes it: world.records[3].name", "ADDR|PATH [--limit N] [--vm ADDR]"),
		tab = command("val", "tab", "what stands in a table; in the globals, when none is named", "[ADDR|PATH] [--limit N] [--vm ADDR]"),
		bc = command("bc", "run", "the bytecode of a function, with lines and constants", "FUNCTION [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and whether they add up to what Lua counts", "[--vm ADDR]"),
	},
}
