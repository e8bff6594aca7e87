-- The cpython plugin: Python's threads, stacks, objects and modules, in a core or a running process.
local command = require("lib.plugin").of "cpython"

return {
	name = "cpython",
	about = "threads, stacks, objects and modules of CPython",
	doc = "CPython 3.9 to 3.13: layouts come from debug information or from the plugin.",
	match = { symbols = { "_PyRuntime" } },
	analyze = function(t, report) require("cpython.report").analyze(t, report) end,
	stacks = function(t, told) require("cpython.stacks").tell(t, told) end,
	samples = function(t, told) return require("cpython.samples").begin(t, told) end,
	commands = {
		threads = command("threads", "run",
			"threads that run Python code: GIL, activity, waits"),
		bt = command("threads", "bt", "Python stacks of all threads or of one",
			"[THREAD] [--locals] [--limit N]"),
		gil = command("threads", "gil", "the GIL: its holder, and how many threads wait for it"),
		objects = command("memory", "objects", "objects and bytes by type; the largest objects",
			"[--type NAME] [--limit N]"),
		refs = command("memory", "refs", "references to an object, what it retains, a path to it",
			"ADDR [--limit N]"),
		modules = command("modules", "run", "sys.modules: names, files, versions"),
	},
}
