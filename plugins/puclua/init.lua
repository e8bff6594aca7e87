-- The puclua plugin: the contents of a state of PUC-Rio Lua 5.1 to 5.4, in a core or a running process.
local command, flame = require("lib.plugin").of "puclua"

return {
	name = "puclua",
	about = "stacks, objects and memory of PUC-Rio Lua 5.1 to 5.4",
	doc = "For programs that embed Lua (not LuaJIT). Without debug information, the published layouts of 5.1, "
		.. "5.3 and 5.4 are used.",
	match = { symbols = { "luaV_execute" }, strings = { "$LuaVersion: Lua 5.", "$Lua: Lua 5." } },
	flames = {
		gcref = flame("retained", "paths", "bytes of objects by the shortest path to them", "bytes"),
		dominators = flame("retained", "dominators", "bytes of objects by dominator", "bytes"),
	},
	analyze = function(t, report) require("puclua.report").analyze(t, report) end,
	stacks = function(t, told) require("puclua.stacks").tell(t, told) end,
	samples = function(t, told) return require("puclua.samples").begin(t, told) end,
	commands = {
		vms = command("commands", "vms", "Lua states of the process, and how each was found"),
		bt = command("bt", "run", "calls of the running thread, of one, or of all",
			"[THREAD|all] [--locals] [--limit N] [--vm ADDR]"),
		path = command("retained", "path", "the largest objects and paths to them, or one object",
			"[--min BYTES] [--limit N] [TYPE|ADDR] [--vm ADDR]"),
		retained = command("retained", "run", "memory that is retained, by object, type or root",
			"[--by object|kind|root] [--limit N] [TYPE] [--vm ADDR]"),
		val = command("val", "val", "one value, by address or Lua expression",
			"ADDR|PATH [--limit N] [--vm ADDR]"),
		tab = command("val", "tab", "entries of a table; of the globals, if none is named",
			"[ADDR|PATH] [--limit N] [--vm ADDR]"),
		bc = command("bc", "run", "the bytecode of a function, with lines and constants",
			"FUNCTION [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and a check of the sum",
			"[--vm ADDR]"),
	},
}
