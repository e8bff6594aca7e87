-- The luajit plugin: everything that a LuaJIT VM holds, in a core or a running process.
local function command(module, entry, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args) require("lib.damage").guard(require("luajit." .. module)[entry], t, report, args) end,
	}
end

return {
	name = "luajit",
	about = "stacks, objects, traces and memory of LuaJIT",
	doc = table.concat({
		"PATH names a value as Lua does: app.users[3], package.loaded[\"app\"].cache, registry.KEY,",
		"also with the words of luajit.path: app → upvalue hidden.x, → metatable. ADDR is an object's",
		"address, *ADDR where a value lies. FILE:LINE is a function by where it begins (the end of the",
		"file's name is enough). luajit.bc takes the address of an instruction, too, or a function and",
		"the POSITION of an instruction in it. N is the number of a trace, ADDR one in its machine code.",
		"luajit.gc shows sizes of all types and of the VM's buffers, which add up to the collector's",
		"total; luajit.check what is wrong: lists, references, colours, strings, sums, the first bad",
		"pointer and who holds it. --vm takes one VM of several, by an address that luajit.vms shows.",
	}, "\n"),
	match = { symbols = { "lj_vm_asm_begin", "luaJIT_setmode" }, strings = { "LuaJIT 2." } },
	flames = {
		gcref = {
			about = "bytes of objects by the shortest path to them", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("luajit.retained").paths, t, tree) end,
		},
		dominators = {
			about = "bytes of objects by what keeps them alive", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("luajit.retained").dominators, t, tree) end,
		},
	},
	stacks = function(t, told) require("luajit.stacks").tell(t, told) end,
	analyze = function(t, report) require("luajit.report").analyze(t, report) end,
	commands = {
		vms = command("commands", "vms", "all VMs of the process, and how each was found"),
		bt = command("bt", "bt", "Lua stacks: the running coroutine's, one, or all", "[COROUTINE|all] [--locals] [--each] [--limit N] [--vm ADDR]"),
		bc = command("listing", "bc", "bytecode of a function, or around an instruction",
			"FILE:LINE|ADDR|PATH [POSITION] [--limit N] [--vm ADDR]"),
		trace = command("jit", "trace", "compiled traces, or why recording was aborted", "[N|ADDR|--aborts] [--limit N] [--vm ADDR]"),
		ir = command("jit", "ir", "intermediate code of a trace, with its snapshots", "N|ADDR [--limit N] [--vm ADDR]"),
		snap = command("jit", "snap", "exits of a trace: where to, frames, how often taken", "N|ADDR [EXIT] [--vm ADDR]"),
		mcode = command("jit", "mcode", "machine code of a trace", "N|ADDR [--limit N] [--vm ADDR]"),
		gc = command("commands", "gc", "objects and bytes by type, and do they add up", "[--vm ADDR]"),
		path = command("path", "run", "the biggest objects and how Lua code gets to them", "[--min BYTES] [--limit N] [TYPE] [ADDR|PATH] [--vm ADDR]"),
		retained = command("retained", "run", "what would be free if an object or module were", "[--by object|kind|root|module] [--limit N] [TYPE] [--vm ADDR]"),
		check = command("check", "run", "is the VM in good order; who holds what is not", "[--limit N] [--vm ADDR]"),
		dead = command("dead", "run", "dead and empty slots of tables, and what they waste", "[--limit N] [--vm ADDR]"),
		alloc = command("alloc", "run", "LuaJIT's allocator: in use and by what, and free", "[--limit N] [--vm ADDR]"),
		val = command("val", "val", "one value, and what it is made of", "ADDR|*ADDR|PATH [--limit N] [--vm ADDR]"),
		tab = command("val", "tab", "what a table has, or what it has under a key", "ADDR|PATH [KEY] [--depth N] [--limit N] [--vm ADDR]"),
		fn = command("val", "fn", "a function and its upvalues, or all of a line", "FILE:LINE|ADDR|PATH [--limit N] [--vm ADDR]"),
		proto = command("val", "proto", "what the compiler made of a function", "FILE:LINE|ADDR|PATH [--limit N] [--vm ADDR]"),
		strings = command("strings", "run", "the table of strings; where one is, who holds it", "[--find TEXT | --with TEXT] [--limit N] [--vm ADDR]"),
		cdata = command("cdata", "run", "objects of the FFI by C type, their finalizers", "[--limit N] [--vm ADDR]"),
		udata = command("udata", "run", "userdata by type and metatable", "[--limit N] [--vm ADDR]"),
		modules = command("modules", "run", "package.loaded, and what each keeps alive alone", "[--limit N] [--quick] [--vm ADDR]"),
		vmstate = command("vmstate", "run", "what the VM was doing; switches of the compiler", "[--vm ADDR]"),
	},
}
