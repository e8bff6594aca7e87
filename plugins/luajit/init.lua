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
	match = { symbols = { "lj_vm_asm_begin", "luaJIT_setmode" }, strings = { "LuaJIT 2." } },
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
	analyze = function(t, report) require("luajit.report").analyze(t, report) end,
	commands = {
		vms = command("commands", "vms", "all VMs of the process, and the ways in which each was found"),
		bt = command("bt", "bt", "the Lua stack of the running coroutine, of one, or of all, equal ones once", "[COROUTINE|all] [--locals] [--each] [--limit N] [--vm ADDR]"),
		bc = command("listing", "bc", "the bytecode of a function, with constants, lines and jumps", "FILE:LINE|ADDR|PATH [--limit N] [--vm ADDR]"),
		trace = command("jit", "trace", "compiled traces, one of them, or why recording was aborted", "[N|ADDR|--aborts] [--limit N] [--vm ADDR]"),
		ir = command("jit", "ir", "the intermediate representation of a trace, with its snapshots", "N|ADDR [--limit N] [--vm ADDR]"),
		snap = command("jit", "snap", "the exits of a trace: where they lead, which frames they have, how often they were taken",
			"N|ADDR [EXIT] [--vm ADDR]"),
		mcode = command("jit", "mcode", "the machine code of a trace", "N|ADDR [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and whether they add up to the collector's total", "[--vm ADDR]"),
		path = command("path", "run", "the biggest objects and how Lua code gets to them; all about one that is named",
			"[--min BYTES] [--limit N] [TYPE] [ADDR|PATH] [--vm ADDR]"),
		retained = command("retained", "run", "what would be free if an object were: by object, type, root or module",
			"[--by object|kind|root|module] [--limit N] [TYPE] [--vm ADDR]"),
		check = command("check", "run", "is the VM in good order: lists, references, colours, strings, sums; the first bad pointer and who holds it", "[--limit N] [--vm ADDR]"),
		dead = command("dead", "run", "hash slots whose keys are dead, tables that are mostly empty, and what that wastes", "[--limit N] [--vm ADDR]"),
		alloc = command("alloc", "run", "what LuaJIT's allocator has, what is in use and by what, and what is free", "[--limit N] [--vm ADDR]"),
		val = command("val", "val", "one value: by address, by *ADDR where it lies, or as Lua writes it: package.loaded[\"app\"].users[3]",
			"ADDR|*ADDR|PATH [--limit N] [--vm ADDR]"),
		tab = command("val", "tab", "what stands in a table, or what it has under a key",
			"ADDR|PATH [KEY] [--depth N] [--limit N] [--vm ADDR]"),
		fn = command("val", "fn", "a function and its upvalues; with a line, all functions that were written there",
			"FILE:LINE|ADDR|PATH [--limit N] [--vm ADDR]"),
		proto = command("val", "proto", "what the compiler made of a function: lines, upvalues, constants, size, flags",
			"FILE:LINE|ADDR|PATH [--limit N] [--vm ADDR]"),
		strings = command("strings", "run", "the table of strings: number, load, chains, the biggest; where one is, and who holds it",
			"[--find TEXT | --with TEXT] [--limit N] [--vm ADDR]"),
		cdata = command("cdata", "run", "objects of the FFI by C type, and their finalizers", "[--limit N] [--vm ADDR]"),
		udata = command("udata", "run", "userdata by type and metatable", "[--limit N] [--vm ADDR]"),
		modules = command("modules", "run", "what package.loaded holds, and what each module keeps alive alone", "[--limit N] [--quick] [--vm ADDR]"),
		vmstate = command("vmstate", "run", "what the VM was doing; hooks, switches and parameters of the compiler", "[--vm ADDR]"),
	},
}
