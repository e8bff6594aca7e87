---@meta xcore
--
-- Editor stubs for the xcore Lua API, version 1. This file is for editors (LuaLS) and people; it is never run.
-- A test compares it with the bindings: every function, method and field here exists there, and the other way round.
--
-- Numbers: integers of up to 64 bits are Lua integers. An unsigned 64-bit value above 2^63 - 1 arrives as its two's
-- complement, a negative number: `xcore.u64(x)` gives decimal text, `math.ult(a, b)` compares, `//` and `%` of such
-- values
-- need care. Addresses are such integers. Sizes are bytes, counts are items, indexes of arrays of the target start at
-- 0.
--
-- Errors are tables of class xcore.Error, raised with error(): `pcall` returns them, `tostring` makes one line of them.
-- An argument of the wrong type (a number in place of a value) is an error of Lua itself, a string. Errors that every
-- function that reads the target may raise are not repeated below: `fault` for missing memory, `absent` for objects
-- that were optimised out or are not in memory, `format` for a damaged container, `not_found` for an unknown name of a
-- type or member.
--
-- Costs are for a core in the page cache, for comparison with each other: a call without a figure takes 50 to 200 ns.

---@class xcore.Error
---@field kind "fault"|"absent"|"not_found"|"usage"|"format"|"limit"|"torn"|"unsupported"|"io"|"permission"
---@field message string  "server.clients.head.next.fd: 0x41414141 is not mapped", with no place before it
---@field where string|nil  the place in the plugin: "plugins/redis/init.lua:31"
---@field path string|nil  of a fault: the C path that was read
---@field addr integer|nil  of a fault: the first address that could not be read
---@field hint string|nil

---@class xcore
---@field version integer  1
---@field target xcore.Target
---@field report xcore.Report  the report of the running command
local xcore = {}

-- Values ------------------------------------------------------------------------------------------------------
--
-- A scalar of the target (integers, characters, bool, enums, float, double) reads as a Lua number or boolean, a NULL
-- pointer as nil. Everything else is a value: structs, unions, classes, arrays, pointers that are not NULL.
--
--     v.name      the member, also through pointers, anonymous members and base classes
--     v[i]        the element of an array, or of the target of a pointer; 0-based; the bounds of arrays are checked
--     #v          elements of an array, or of a container that a view knows (std::vector)
--     p + n, p - n, p - q    pointers, in elements
--     v == w      the same address (and both pointers, or neither)
--     tostring(v) as `xcore print` writes it, on one line
--     v.name = 1  an error: the target is read-only
--
-- Values have no methods, so that every field is accessible. Everything else is a function of this module.
--
-- Members of base classes and of anonymous parts are members. A 128-bit integer that does not fit is a value: tostring
-- shows it. A _Bool is true when it is not 0. A long double is rounded to double. A C++ reference is its target.

---@class xcore.Value
---@field [string|integer] any
---@operator add(integer): xcore.Value
---@operator sub(integer): xcore.Value
---@operator len: integer

---The address: of a pointer, its target; of a struct, array or reference, its own.
---Raises `absent` for objects in registers.
---Raises `usage` for bit-fields.
---@param v xcore.Value
---@param field? string  the address of a member instead
---@return integer
function xcore.addr(v, field) end

---The same bits as another type. An integer is an address: cast(0x1000, "struct foo *"). A struct or array cast to a
---pointer type gives its address; cast to another type it is read in place.
---Raises `usage` for impossible casts: a number to a struct (t:value reads one).
---@param v xcore.Value|integer
---@param type xcore.Type|string
---@return any
function xcore.cast(v, type) end

---The type, as declared: typedefs and qualifiers are in it (strip() removes them).
---@param v xcore.Value
---@param field? string  the type of a member
---@return xcore.Type
function xcore.typeof(v, field) end

---The target of a pointer, or the first element of an array: *p. Scalars are read, structs are values.
---Raises `usage` for a pointer to void: cast it first.
---@param v xcore.Value
---@return any
function xcore.deref(v) end

---The text of a pointer to characters, an array of characters or a string class (std::string, String, &str), up to its
---NUL or length. nil for nil. Bytes are not converted, even if they are not UTF-8.
---Raises `usage` for other types.
---@param v xcore.Value|nil
---@param max? integer  bytes; default: 65536; a longer text is cut (t:cstring reports that)
---@return string|nil
function xcore.str(v, max) end

---A reference: a value with the type and address of any object, also of a scalar or of unmapped memory. ref(v) refers
---to v itself, ref(v, "a.b") to a member. deref(r) reads it.
---@param v xcore.Value
---@param field? string
---@return xcore.Value
function xcore.ref(v, field) end

---The name of an enum's value: enum(v, "field") of a member, enum(type, 3), or enum(ref). Flags are "A | B". nil when
---no
---enumerator has that value.
---Raises `usage` for other types.
---@param v xcore.Value|xcore.Type
---@param field string|integer|nil
---@return string|nil
function xcore.enum(v, field) end

---Size in bytes of a value's type, of a type, or of a type by name.
---Raises `usage` when it is unknown: void, an incomplete struct.
---@param v xcore.Value|xcore.Type|string
---@param field? string
---@return integer
function xcore.sizeof(v, field) end

---The offset of a member in a struct, in bytes. The path may have dots and indexes: "a.b[2].c". Raises for bit-fields.
---@param type xcore.Type|string
---@param path string
---@return integer
function xcore.offsetof(type, path) end

---The struct of `type` that contains v's target (or v) as its member `member`, like the C macro. nil for nil.
---@param v xcore.Value|integer|nil
---@param type xcore.Type|string
---@param member string  may be a path
---@return xcore.Value|nil
function xcore.container_of(v, type, member) end

---Does the struct v, or the target of v, or the type have this member? For structs that differ between versions.
---@param v xcore.Value|xcore.Type
---@param member string
---@return boolean
function xcore.has(v, member) end

---Iterate over an array or a container: index and element of arrays, slices and lists (index from 0); key and value of
---maps. Pointers and flexible arrays need a count: each(p, n), each(v.data, v.count). The content of an optional or a
---smart pointer is one element, under its name. nil has no elements. A NULL key is given as a reference.
---Elements are read one by one during the loop, about 100 ns each. Raises `usage` for a pointer without count.
---@param v xcore.Value
---@param count? integer
---@return fun(): any, any
function xcore.each(v, count) end

---The value as `xcore print` formats it. `letter` as in print /x: x z d u o t c a f. A second string argument names a
---member. Never raises for unreadable parts: the text shows the reason in their place. A struct takes microseconds,
---depending on its size.
---@param v any
---@param options? {letter?: string, field?: string, depth?: integer, elements?: integer, length?: integer, raw?: boolean}
---@return string
function xcore.fmt(v, options) end

---The function or object at an address or at a pointer's target: "ngx_http_handler", "table+0x10". nil when no symbol
---covers it.
---@param v xcore.Value|integer|nil
---@return string|nil
function xcore.symbol(v) end

---An integer as unsigned 64-bit decimal text.
---@param n integer
---@return string
function xcore.u64(n) end

---An integer as "0x…".
---@param n integer
---@return string
function xcore.hex(n) end

---The path of a value, as messages show it: "server.clients.head", or "((struct client *) 0x…)" when it is unknown.
---@param v xcore.Value
---@return string
function xcore.path(v) end

-- In bulk: loops that run in C ---------------------------------------------------------------------------------

---Members of `count` consecutive structs as columns: tables of numbers by member name, from 1. Paths may have dots and
---indexes ("a.b[2]"), but not go through pointers; pointers give addresses, 0 for NULL; bool gives booleans.
---All or nothing; about 10 ns per value.
---Raises `usage` for a pointer without count, and a fault that names the row.
---@param v xcore.Value  an array, or a pointer to the first
---@param count integer|nil  nil: the count of the array
---@param fields string[]
---@return table<string, any[]> columns
---@return integer count
function xcore.columns(v, count, fields) end

---Follow the pointer member `next` from `head` on, and collect members like xcore.columns. Ends at NULL, at `head`
---again (a ring), or at `stop`. A cycle that does not include head, an unreadable pointer or more than `max` steps
---raise, unless `partial` is set: then the results so far are returned with the reason. With `container` the pointers
---point to that member of a struct, and `fields` are those of the struct. About 50 ns per node with four fields, 70
---when nodes are scattered.
---@param head xcore.Value|nil
---@param next string  member; may be a path
---@param fields? string[]
---@param options? {max?: integer, stop?: xcore.Value|integer, partial?: boolean, addresses?: boolean, container?: {[1]: xcore.Type|string, [2]: string}}
---@return table<string, any[]> columns  with `addresses`, and when no fields are named, the addresses of nodes under the key 1
---@return integer count
---@return string|nil why
function xcore.follow(head, next, fields, options) end

---Follow many short lists at once, such as the buckets of a hash table: from each of `heads`, a column of addresses (0
---is an empty list), the member `next` points to the next node, and NULL ends a list. The nodes of all lists form one
---set of columns: all first nodes, then all second ones, and so on. `levels[n]` is the number of lists with an n-th
---node. `mask` is applied to all pointers, for tables that keep flags in them. An unreadable pointer, a cycle, or more
---than `max` nodes raise, unless `partial` is set: then the other lists are followed to their ends, and `why` is the
---first reason. `first` and `count` select a range of the heads (from 1; default: all). About 60 ns per node with four
---fields.
---@param type xcore.Type|string  of the nodes
---@param heads integer[]
---@param next string  member; may be a path
---@param fields? string[]
---@param options? {max?: integer, mask?: integer, partial?: boolean, addresses?: boolean, first?: integer, count?: integer}
---@return table<string, any[]> columns  with `addresses`, and when no fields are named, the addresses of nodes under the key 1
---@return integer count
---@return string|nil why
---@return integer[] levels
function xcore.chains(type, heads, next, fields, options) end

---Counts by bucket. `scale`: "log2" (powers of two, the default; integers are unsigned), "linear" with `width`, or
---"exact" (one bucket per integer).
---@param options? {scale?: "log2"|"linear"|"exact", width?: number, unit?: "count"|"bytes"|"seconds"}
---@return xcore.Histogram
function xcore.histogram(options) end

---@class xcore.Histogram
local histogram = {}
---Count a value, or a whole column at once: 15 ns per value. Raises `usage` for NaN, `limit` for too many buckets.
---@param value number|number[]  a column adds all of its numbers
---@param weight? integer  default: 1; not negative
function histogram:add(value, weight) end
---The buckets by value.
---@return {lo: number, hi: number, count: integer}[]  not the empty ones; hi is inclusive, but exclusive once fractions were added
function histogram:buckets() end
---Statistics of all values, not of buckets.
---@return {count: integer, sum: number, min: number|nil, max: number|nil, mean: number|nil}
function histogram:summary() end

---Keeps the k largest.
---@param k integer
---@return xcore.Top
function xcore.top(k) end

---@class xcore.Top
local top = {}
---Raises `usage` for NaN.
---@param weight number
---@param item any
function top:add(weight, item) end
---The smallest weight that is still accepted; nil until there are k items.
---@return number|nil
function top:least() end
---A new list each time.
---@return {weight: number, item: any}[]  the largest first; equal ones in the order they came
function top:items() end

-- Graphs of a program's own objects -------------------------------------------------------------------------------
--
-- For plugins of language run-times and caches with millions of objects: which objects keep which alive, like `xcore
-- heap` for blocks. The graph is stored in compact arrays instead of Lua tables: 3 million objects with 6 million edges
-- take about 250 MB, which count against --max-memory, and 2 to 3 s. First nodes, edges and roots are added, in any
-- order, best about 65,536 at a time (a batch). The first query ends that; adding more raises `usage`. A column is a
-- list of integers from xcore.columns, xcore.follow or xcore.gather; items that are false (rows that `partial` could
-- not read) or NULL are skipped.
--
--     local g = xcore.graph()
--     local c = xcore.gather("struct table", tables, {"slots", "slot_count", "meta"})
--     g:nodes(tables, 56, "table")
--     g:edges(tables, c.meta)
--     g:scan{from = tables, start = c.slots, count = c.slot_count, stride = 16, at = {0, 8}}
--     g:root(xcore.addr(state), "state")
--     for _, it in ipairs(g:top{by = "retained", limit = 10}) do print(xcore.hex(it.addr), it.kind, it.retained) end

---Members of the structs at these addresses, like xcore.columns for consecutive structs: about 15 ns per value when
---they are scattered.
---A fault names the row, unless `partial` is set.
---@param type xcore.Type|string
---@param addresses integer[]  a column
---@param fields string[]
---@param options? {partial?: boolean}  partial: a row that cannot be read in full is false in all columns
---@return table<string, any[]> columns
---@return integer missing  such rows
function xcore.gather(type, addresses, fields, options) end

---The distinct values of members of the structs at these addresses, with counts: the rows of xcore.gather, each
---distinct row once, in the order of their first occurrence. For statistics over millions of structs with few distinct
---values. About 25 ns per struct.
---@param type xcore.Type|string
---@param addresses integer[]  a column
---@param fields string[]  at least one
---@param options? {partial?: boolean}  partial: a row that cannot be read in full is left out, else it raises
---@return table<string, any[]> columns  of different rows
---@return integer[] counts  the number of structs with the row
---@return integer[] firsts  the address of the first of them
---@return integer missing  the number that could not be read
function xcore.tally(type, addresses, fields, options) end

---A column grouped by another one: for each value of `keys` the list of the `values` in the same rows, in order. About
---30 ns per row.
---
---    for kind, addresses in pairs(xcore.group(all, columns.kind)) do … end
---@param values any[]  a column
---@param keys any[]  as long
---@return table<any, any[]> lists
function xcore.group(values, keys) end

---A new graph, empty.
---@return xcore.Graph
function xcore.graph() end

---@class xcore.Graph
---@field repeated integer  nodes that were added again: the first one counts; a query
---@field missing integer  elements that g:scan could not read
---@field strays integer  edges and roots that start or end in no node; a query
local graph = {}
---Add objects. `sizes` include memory elsewhere; an address belongs to the node with the highest start at or below it,
---if that is large enough. Raises `usage` for columns of different lengths, `limit` for more than 65,000 kinds.
---@param addresses integer|integer[]
---@param sizes integer|integer[]  bytes; one number is for all
---@param kind string|string[]  "table"; one string is for all
function graph:nodes(addresses, sizes, kind) end
---Add references: from each of `from` to the item of `to` in the same row; a single number is used for all rows. Both
---are addresses anywhere within nodes.
---@param from integer|integer[]
---@param to integer|integer[]
function graph:edges(from, to) end
---References that lie in arrays: each row has `count` elements of `stride` bytes from `start` on, and in each element
---the words at the
---offsets `at` are references of the node `from`. Read at once, in C: 5 ns a word. An array that cannot be read to its
---end is read as far
---as can be, and the rest counts as missing.
---* `from`, `start`, `count`: columns, or one number for all. `offset` is added to each start, `more` to each count (1
---  for a mask).
---* `max`: a row with a larger count is damaged, and missing as a whole; 2^28 unless given.
---* `width`: bytes of a word, 4 or 8, the pointer size unless given. The word, unsigned, is masked with `mask`, shifted
---  left by `shift`,
---  and `base` is added, unless it is 0.
---* `tag`: only words with a tag between `lo` and `hi`, both included, are references. The tag is the word itself, or
---  `width` (1, 2, 4 or 8)
---  bytes at `at` bytes behind (or before) it, as a signed number, shifted right by `shift` and then masked with
---  `mask`.
---* `unless`: elements with such a tag are passed over: it lies `at` bytes after the element's beginning, and has the
---  words' width
---  unless given. For hash tables whose empty slots keep their keys.
---* `exact`: only to the beginnings of nodes.
---LuaJIT with GC64: `tag = {shift = 47, lo = -14, hi = -4}, mask = 0x7fffffffffff`. Lua 5.4: `tag = {at = 8, width = 1,
---mask = 0x40, lo =
---0x40, hi = 0x40}`. V8: `width = 4, base = cage, tag = {mask = 1, lo = 1, hi = 1}`.
---@param what {from: integer|integer[], start: integer|integer[], count: integer|integer[], stride?: integer, at?: integer[], offset?: integer, more?: integer, max?: integer, width?: integer, mask?: integer, shift?: integer, base?: integer, exact?: boolean, tag?: {lo: integer, hi: integer, shift?: integer, mask?: integer, at?: integer, width?: integer}, unless?: {lo: integer, hi: integer, shift?: integer, mask?: integer, at?: integer, width?: integer}}  stride: the width unless given; at: {0}
---@return integer references
---@return integer missing  elements
function graph:scan(what) end
---Add roots: objects that the program itself holds. A node may be a root more than once; roots of the same name are one
---holder.
---@param addr integer|integer[]|xcore.Value
---@param name string  "registry"
function graph:root(addr, name) end

---From here on: queries. Those about an address accept any address within a node, and raise `not_found` when there is
---no node.
---@return integer nodes
---@return integer edges
function graph:count() end
---The node with this address, if there is one.
---@param addr integer|xcore.Value
---@return integer|nil addr
---@return integer size
---@return string kind
function graph:find(addr) end
---The shortest chain of nodes from a root down to this one, and the name of that root. nil when no root reaches it.
---@param addr integer|xcore.Value
---@return integer[]|nil
---@return string root
function graph:path(addr) end
---The nodes that refer to this one, one for each reference.
---@param addr integer|xcore.Value
---@param max? integer  default: 100,000
---@return integer[] addresses
---@return integer total
---@return string|nil root  the name of its first root, if it is one
function graph:referrers(addr, max) end
---The nodes that this one refers to, in the order they were added.
---@param addr integer|xcore.Value
---@param max? integer  default: 100,000
---@return integer[] addresses
---@return integer total
function graph:refers(addr, max) end
---The memory that would be freed with this node: its own bytes, and those of all nodes that are reached only through
---it. nil when no root reaches it.
---@param addr integer|xcore.Value
---@return integer|nil bytes
---@return integer count  nodes, itself included
function graph:retained(addr) end
---The nearest node whose removal would free this one. nil when there is none: then, if a single root holds it, the name
---of that root.
---@param addr integer|xcore.Value
---@return integer|nil addr
---@return string|nil root
function graph:dominator(addr) end

---@class xcore.GraphNode
---@field addr integer
---@field size integer
---@field kind string
---@field retained integer|nil  bytes; nil when no root reaches it
---@field count integer|nil  nodes retained

---The largest nodes, by their own or retained size: the largest first, equal ones by address.
---@param options? {by?: "retained"|"size", kind?: string, limit?: integer}  default: by retained, limit 20
---@return xcore.GraphNode[]
function graph:top(options) end
---Totals for each kind, most bytes first. `retained` is the memory that would be freed with all nodes of this kind;
---nothing is counted twice.
---@return {kind: string, count: integer, bytes: integer, retained: integer, unreached: integer, unreached_bytes: integer}[]
function graph:kinds() end
---Totals for each holder, most bytes first: `bytes` and `count` of nodes that only roots of this name keep alive; the
---number of `roots`. `near_bytes` and `near_count`: of nodes whose shortest path (g:path) starts there, each node once.
---The last one, without a name, has the nodes that several holders keep alive together, if there are any.
---@return {name: string|nil, roots: integer, bytes: integer, count: integer, near_bytes: integer|nil, near_count: integer|nil}[]
function graph:roots() end
---The nodes that no root reaches, by address: `for addr, size, kind in g:unreached("table") do … end`.
---@param kind? string
---@return fun(): integer|nil, integer, string
function graph:unreached(kind) end
---Add all nodes that roots reach to a tree, for a flame graph: below the root's name, each on its shortest path, or
---below its
---dominator. A frame is a kind, or the name that `name` gives a node (nil: its kind) that stands below `above` (nil:
---below the root); a
---frame that is on the path already is not entered again, so the nodes of a list are one frame. At most `depth` frames,
---100 unless given.
---Raises `limit` for more than a million different paths.
---@param tree xcore.Tree
---@param options? {by?: "path"|"dominator", name?: (fun(addr: integer, kind: string, above: integer|nil): string|nil), depth?: integer}  by path unless given
function graph:fill(tree, options) end

-- Types that the debug information lacks ------------------------------------------------------------------------

---Read C declarations: structs, unions, enums, typedefs, arrays, pointers, bit-fields, function pointers,
---__attribute__((packed, aligned(N))), sizeof in array bounds, #define of integer constants. They are laid out by the
---target's
---ABI. Names are found by t:type and by every function that takes a type's name, after what the debug information has.
---All texts of a run make one scope: a later one may use what an earlier one declared, and the same declaration may
---come again.
---A struct that is mentioned and never defined is the debug information's, if that has it. Macros may stand for
---anything but take no
---parameters; #include, #if and values of variables are errors; functions are read past. An error declares nothing, and
---begins with
---line and column in the text. At most 1 MiB a text, 64 MiB of all a run's texts, 65,536 members a struct.
---With `private` the text is a scope of its own: only the result's :type and :constant know its names. For layouts that
---are to be
---tried, one after the other, until one fits: t:value(D:type "struct foo", addr).
---@param text string
---@param options? {private?: boolean}
---@return xcore.Declarations
function xcore.cdef(text, options) end

---@class xcore.Declarations
local declarations = {}
---The type as declared here, whatever the debug information says.
---Raises not_found.
---@param name string
---@return xcore.Type
function declarations:type(name) end
---The value of a #define or an enumerator; raises not_found, and format for a #define of something else.
---@param name string
---@return integer
function declarations:constant(name) end

---An error, to be raised: error(xcore.error("usage", "--db: expected a number")). One of kind "usage" is about the
---arguments of a
---command: it ends with exit status 2 and without a traceback. One of kind "not_found" tells the user that there is no
---such thing, with
---exit status 4 and without a traceback, too.
---@param kind string  see xcore.Error
---@param message string
---@param hint? string
---@return xcore.Error
function xcore.error(kind, message, hint) end

-- Live processes ------------------------------------------------------------------------------------------------

---Drop cached and frozen memory, and read the mappings again: later reads see the current state of the process. Threads
---and modules are not updated. A script that refreshes reads in a loop, so from then on --max-read-time and
-----max-read-rate apply from the first byte. Does nothing for cores.
function xcore.refresh() end

---Freeze the current bytes: all later reads of this range return them, until xcore.refresh(). A core is always frozen.
---Raises when they cannot be read, and `limit` when more than 256 MiB would be frozen.
---@param at xcore.Value|integer
---@param len? integer  bytes; default for a value: its size
function xcore.snapshot(at, len) end

---Call fn, and again when what it read was torn: when one of `words` (references to generation counters, or functions
---that
---return a number or string) reads otherwise afterwards, fresh from the process, or when fn raises a fault in a live
---process, or an
---error of kind "torn" by itself (a counter that is odd while the program writes). What was read before is forgotten
---first; what
---xcore.snapshot froze stays. Every torn read is counted and shown by --stats; when all tries were torn an error of
---kind "torn" is
---raised, or the fault when no word had changed. Other errors of fn are raised at once, unless a word changed. Of a
---core fn is called
---once.
---@param fn fun(): ...
---@param options? {tries?: integer, words?: (xcore.Value|fun(): any)[]}  5 tries unless given, 1000 at most; at most 64 words of up to 4096 bytes
---@return any ...
function xcore.retry(fn, options) end

-- The rest ------------------------------------------------------------------------------------------------------

---CPU seconds used by this run.
---@return number
function xcore.clock() end

---Show progress on the terminal, if there is one.
---@param done integer
---@param total? integer
function xcore.progress(done, total) end

---Is redaction on? Sections leave out by themselves what is marked as secret; printed lines and the frames of flame
---graphs cannot be
---marked: leave the user's data out of them then.
---@return boolean
function xcore.redacts() end

---Write a line to the report: the arguments converted by tostring, separated by tabs.
---@param ... any
function print(...) end

-- The target ----------------------------------------------------------------------------------------------------

---@class xcore.Target
---@field live boolean
---@field pid integer|nil
---@field exe string|nil  path of the program, as the target names it
---@field comm string|nil
---@field args string|nil
---@field arch string  "x86-64"
---@field pointer_size integer  bytes
---@field endian "little"|"big"
---@field signal {number: integer, name: string, code: integer|nil, addr: integer|nil}|nil  the signal that ended the process of a core
local target = {}

---A global or static variable; "file.c::name" and C++ names with scopes work. Raises not_found.
---1.5 µs once its name was found; the first name of all may take building an index.
---@param name string
---@return any
function target:var(name) end
---As var, but always a value, also of a scalar or of a NULL pointer. Raises not_found.
---@param name string
---@return xcore.Value  a reference to the variable, for scalars that are to be looked at again
function target:ref(name) end
---A type by name: what the debug information says, else (also where that only declares a struct) xcore.cdef. Raises
---not_found. A
---script can make 65536 of them: keep them in variables. Types are equal (==) when name, kind and size are.
---A type by name, as C writes it, pointers and arrays too. Raises not_found. The first name may take building an index.
---@param name string  "struct client", "client *", "unsigned long [4]"
---@return xcore.Type
function target:type(name) end
---A value of a type at an address. Scalars are read at once.
---Raises a fault when a scalar or pointer cannot be read; structs and arrays are read later, member by member.
---@param type xcore.Type|string
---@param addr integer
---@return any
function target:value(type, addr) end
---A C expression, as `xcore print` takes it, in the frame of the crashed thread.
---Raises `format` for what is no expression, `not_found` for a name, a fault for memory. 2 µs and more.
---@param expression string
---@return any
function target:eval(expression) end
---Is there such a global or static variable? As dear as var.
---@param name string
---@return boolean
function target:has_var(name) end
---Is there such a type, here or by xcore.cdef?
---@param name string
---@return boolean
function target:has_type(name) end
---Is there such a symbol in the symbol tables? Needs no debug information.
---@param name string
---@return boolean
function target:has_symbol(name) end

---@class xcore.Symbol
---@field name string
---@field addr integer
---@field size integer|nil
---@field module string  its path

---A symbol of the symbol tables, exact name. Raises not_found.
---Raises `unsupported` for thread-local ones.
---@param name string
---@return xcore.Symbol
function target:symbol(name) end

---@class xcore.Place
---@field text string  "read_request+0x1c at server.c:120", for people
---@field name string|nil
---@field offset integer|nil
---@field module string|nil
---@field file string|nil
---@field line integer|nil

---The symbol, file and line at an address; nil when nothing is mapped there.
---With file and line for code that has debug information: 1 µs, more when its unit is first looked at.
---@param addr integer|xcore.Value
---@return xcore.Place|nil
function target:symbolize(addr) end

---The first and the last address of the code that one entry of call frame information covers, usually a function; nil when
---none covers it. Needs no symbols.
---@param addr integer|xcore.Value
---@return integer|nil lo
---@return integer|nil hi
function target:code_range(addr) end

---Read bytes. Raises a fault when any is missing.
---Raises `limit` for more than 64 MiB.
---@param addr integer|xcore.Value
---@param len integer  at most 64 MiB
---@return string
function target:read(addr, len) end
---The number of readable bytes from addr on, at most len. Never raises.
---@param addr integer
---@param len? integer  default: 1
---@return integer
function target:readable(addr, len) end
---How many of these bytes the kernel has in memory for a running process, whoever shares them: what its RSS counts. nil
---for cores, and where
---the kernel does not tell. 30 ns a page. Raises `limit` for more than 1 TiB.
---@param addr integer|xcore.Value
---@param len integer
---@return integer|nil
function target:resident(addr, len) end
---An unsigned number of 8 bits. This and the next: a fault when it cannot be read, about 80 ns.
---@param addr integer
---@param order? "little"|"big"  the target's unless given
---@return integer
function target:u8(addr, order) end
---Unsigned, 16 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:u16(addr, order) end
---Unsigned, 32 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:u32(addr, order) end
---Unsigned, 64 bits: above 2^63 - 1 a negative number (xcore.u64).
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:u64(addr, order) end
---Signed, 8 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:i8(addr, order) end
---Signed, 16 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:i16(addr, order) end
---Signed, 32 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:i32(addr, order) end
---Signed, 64 bits.
---@param addr integer
---@param order? "little"|"big"
---@return integer
function target:i64(addr, order) end
---A float.
---@param addr integer
---@param order? "little"|"big"
---@return number
function target:f32(addr, order) end
---A double.
---@param addr integer
---@param order? "little"|"big"
---@return number
function target:f64(addr, order) end
---A word of the target's size.
---0 for NULL. Raises a fault.
---@param addr integer
---@return integer
function target:ptr(addr) end
---A NUL-terminated string. Raises a fault when its first byte cannot be read.
---@param addr integer|xcore.Value
---@param max? integer  bytes; default: 65536
---@return string
---@return boolean cut
function target:cstring(addr, max) end

---@class xcore.Instruction
---@field addr integer
---@field length integer  bytes
---@field text string  "mov rax, [rbx+0x8]"; x86 in Intel's syntax
---@field valid boolean  false: no instruction begins here
---@field target integer|nil  of a jump or call that names it

---Machine code as instructions, from addr on, up to `len` bytes; the last one may be cut. For code that a program made
---itself; `xcore disas`
---shows functions with all that is known of them. 1 µs each.
---Raises a fault when nothing can be read there, `limit` for more than 1 MiB, `unsupported` for a machine that nothing
---decodes.
---@param addr integer|xcore.Value
---@param len integer
---@return xcore.Instruction[]
function target:disassemble(addr, len) end

---A block that an allocator handed out, or holds free.
---@class xcore.Block
---@field addr integer  the pointer that malloc returned
---@field size integer  bytes, as malloc_usable_size says
---@field state "live"|"leaked"|"free"|"unknown"  leaked: live, but no root reaches it
---@field kept "tcache"|"fastbin"|"bin"|"top"|nil  where a free one is kept
---@field type string|nil  nil: unknown
---@field count integer  elements of an array, characters of a text, else 1; 0 when untyped
---@field confidence "exact"|"strong"|"weak"|nil
---@field via string|nil  the edge or root that gave the type
---@field value xcore.Value|nil  the object, or the array

---The heap of the target, whose blocks were found without the program's help.
---`#h` is the number of blocks, free ones too. What needs the graph of pointers (states, refs, path) or types makes
---them once.
---@class xcore.Heap
local heap = {}

---Walk the heap: all blocks of all allocators. A running process should be read at a quiet moment: it is not stopped.
---The same until `xcore.refresh()`; after that another one, and blocks of the one before go on telling of their moment.
---@return xcore.Heap
function target:heap() end
---All blocks in address order, or those that an option chooses: `for b in h:blocks{state = "leaked"} do … end`.
---@param options? {state: string, type: string, min: integer}  type as `b.type` has it; min: bytes
---@return fun(): xcore.Block
function heap:blocks(options) end
---The block that contains an address, and the offset in it. nil when there is none.
---@param addr integer|xcore.Value
---@return xcore.Block|nil
---@return integer offset
function heap:at(addr) end
---A description of an address: "struct client (heap, live, 352 bytes) .querybuf", "server .clients (redis-server,
---data)", "stack of thread 12", "not mapped".
---@param addr integer|xcore.Value
---@return string
function heap:whatis(addr) end
---The blocks that point into a block, one for each pointer and at most 100,000, and how many roots do.
---@param block xcore.Block
---@return xcore.Block[]
---@return integer roots
function heap:refs(block) end
---The shortest chain of blocks from a root down to a block, and where that root lies. nil for leaked and free ones.
---@param block xcore.Block
---@return xcore.Block[]|nil
---@return string kind  "global", "stack", "register", …
function heap:path(block) end
---Blocks and bytes by state.
---@return {live: {blocks: integer, bytes: integer}, free: {blocks: integer, bytes: integer}, unknown: {blocks: integer, bytes: integer}}
function heap:totals() end
---The memory that allocators manage, in address order: what is in no block of a region is headers, padding, or was
---never used.
---@return {lo: integer, hi: integer, arena: string|nil, what: string|nil}[]  hi is inclusive; what: "brk heap", "mmapped chunk", …
function heap:regions() end
---Say that an object stands within a block: it becomes a block of its own, and what lies around it stays as pieces of
---the old one. The pieces keep each other alive, except for those claimed as `alone`: an object of a slab is leaked when
---nothing points to it. A piece claimed as `free` is a free block.
---Before the first question about blocks; raises `usage` later. What lies in no live block, or overlaps another claim,
---is left out.
---@param claim {addr: integer|xcore.Value, size: integer, type: string|xcore.Type, array: boolean, alone: boolean, free: boolean, what: string}
---  addr aligned to 8; size 0 or nil: to the end of the block; array: as many elements of the type as fit; what: who
---  says so, the `via` of the type
function heap:claim(claim) end
---Declare that one block points to another other than by a plain pointer. Rules as for claims.
---@param from integer|xcore.Value
---@param to integer|xcore.Value
function heap:edge(from, to) end
---Declare that something outside of the heap keeps a block alive. Rules as for claims.
---@param addr integer|xcore.Value
function heap:root(addr) end
---Say what a pointer is that its type does not tell, for all objects of a type: `ptr` of a redisObject is a `dict *`
---where `encoding` is 2.
---Typing follows it wherever it meets such an object. As for claims, before the first question; names that the program
---does not have change
---nothing, so that one plugin serves many versions.
---
---What a pointer is stands as a C type ("dict *", "dictEntry **", a typedef of a pointer), as false (it is none then),
---or as a table: the
---type, and by name what the members of the objects are that it leads to, `{ "dictEntry **", key = "sds", ["v.val"] =
---"robj *" }`;
---such tables may stand in such tables. Pointers from these objects to more of their type (`next`) lead to more of the
---same.
---@param rule {type: string, field: string, to: string|table|false, by: string, cases: table<integer|string, string|table|false>}
---  field: a member, "ptr", "v.val", or array of them; to: what it always is; or by: the member that tells, an integer,
---  enum, bit-field or pointer,
---  and cases: by its value, a number or the name of a symbol whose address it is (tables of functions, functions)
function heap:rule(rule) end
---Say that pointers of a typedef lead past a header, which a byte near them tells, as sds of redis:
---`heap:header { pointer = "sds", at = -1, mask = 7, cases = { [1] = "struct sdshdr8", [2] = "struct sdshdr16" } }`. As
---for rules.
---@param header {pointer: string, at: integer, mask: integer, cases: table<integer, string>}  at: of the byte, from where the pointer leads
---  to; -1 when left out; mask: of its bits, 255; cases: by their value, the header: a struct, or "char" for one byte
function heap:header(header) end
---Live blocks and their bytes by type; untyped ones under "".
---@return table<string, {blocks: integer, bytes: integer}>
function heap:types() end

---@class xcore.Module
---@field path string
---@field name string
---@field kind "exe"|"library"|"loader"|"vdso"
---@field lo integer
---@field hi integer  inclusive
---@field bias integer|nil
---@field build_id string|nil
---@field file string|nil  the file used
---@field identity "verified"|"unverified"|"refused"|"none"
---@field why string|nil  why there is no verified file

---The files that were loaded: the program, its libraries, the loader, the vdso.
---@return xcore.Module[]  the executable first
function target:modules() end
---The module with this name or path, or the one that contains the address; nil when there is none.
---@param at string|integer  a name, a path or an address
---@return xcore.Module|nil
function target:module(at) end

---@class xcore.Mapping
---@field lo integer
---@field hi integer  inclusive
---@field readable boolean
---@field writable boolean
---@field executable boolean
---@field shared boolean
---@field path string|nil
---@field label string|nil  "[stack]", "[heap]"
---@field offset integer

---The mappings of the address space, those too whose bytes the core does not have. A new list each time.
---@return xcore.Mapping[]  by address
function target:maps() end
---The mapping that contains this address; nil when nothing is mapped there.
---@param addr integer
---@return xcore.Mapping|nil
function target:map(addr) end

---Search memory. One of: `bytes`, a byte string; `pointer_to`, words that point into [lo, hi]; `signature`, structs of
---a
---type whose members (paths work) have these values or lie in these ranges {lo, hi}, have the value of an enumerator by
---its name, or
---are pointers ("pointer", "null or pointer") to mapped memory. Ends of ranges are inclusive.
---Where: `within`, a list of {lo, hi} or mappings, else all readable memory that is `writable` (true or false, both
---unless
---given). `align`: every byte for `bytes`, words for pointers, what the type's size allows for structs. Gives addresses
---in
---ascending order, lazily. What is missing is passed over. 5 GB/s for structs by their first member, 10 and more for
---the others.
---@param what {bytes?: string, pointer_to?: {[1]: integer|xcore.Value, [2]: integer|xcore.Value}, signature?: {[1]: xcore.Type|string, [2]: table<string, any>}, within?: any[], writable?: boolean, align?: integer, max?: integer}
---@return fun(): integer|nil
function target:find(what) end

---@class xcore.Thread
---@field tid integer
---@field name string|nil
---@field crashed boolean
---@field state string|nil  live: "sleeping", "running", …
---@field signal integer|nil
---@field syscall string|nil  live: the call it is blocked in
---@field how string|nil  live: how its registers were had
---@field why string|nil  why it has no registers
local thread = {}
---All threads. Free: registers and stacks are read on access.
---@return xcore.Thread[]  the crashed one first
function target:threads() end
---A thread by its id. Raises not_found.
---@param tid? integer  default: the crashed thread
---@return xcore.Thread
function target:thread(tid) end
---Registers by name ("rip", "rsp", …); those that are not known are absent.
---Of the innermost frame. 64 bits: above 2^63 - 1 negative. Empty when none are known: `why` says so.
---@return table<string, integer>
function thread:registers() end
---The stack, innermost first; inlined functions are frames of their own, as in `xcore bt`.
---10 µs to milliseconds the first time, by what has to be unwound and looked up. Raises `limit` for a max above
---1,048,576.
---@param max? integer  default: 1024
---@return xcore.Frame[] frames
---@return string why  the reason why it ends
function thread:frames(max) end

---@class xcore.Frame
---@field index integer  from 0
---@field pc integer
---@field at integer  of the instruction, or of the call: pc, or one less where that is a return address
---@field sp integer|nil
---@field cfa integer|nil
---@field name string|nil  of the function
---@field file string|nil
---@field line integer|nil
---@field inlined boolean
---@field signal boolean  a signal trampoline
---@field language string|nil  as a plugin told it of this code
---@field trust "context"|"cfi"|"fp"|"scan"|"plugin"
---@field module string|nil
---@field offset integer|nil  pc in the module's file
---@field callee integer|nil  in samples: an address in the native function that it called
local frame = {}

---@class xcore.Variable
---@field name string
---@field type xcore.Type
---@field value any  nil when it is NULL or unavailable
---@field why string|nil  the reason why it is unavailable
---@field guessed boolean

---The arguments in the order of their declaration; a value that is not known has `why`. Never raises for one of them.
---@return xcore.Variable[]
function frame:args() end
---The local variables in scope at the frame's pc, as args gives them. Never raises for one of them.
---@return xcore.Variable[]
function frame:locals() end
---An argument or local of this frame by name. Raises not_found, and absent with the reason when it was optimised out.
---@param name string
---@return any
function frame:var(name) end
---Raises as target:eval does.
---@param expression string  a C expression, with this frame's variables and registers
---@return any
function frame:eval(expression) end
---Its value at the frame's pc. Raises not_found for a name that the machine does not have.
---@param name string
---@return integer|nil  nil when this frame's value of it is not known
function frame:register(name) end
---Registers by name, those whose values in this frame are known. Above the innermost frame these are pc, sp and what
---calls preserve.
---@return table<string, integer>
function frame:registers() end

-- Types ---------------------------------------------------------------------------------------------------------

---@class xcore.Type
---@field name string  as gdb writes it
---@field kind "void"|"int"|"bool"|"char"|"float"|"complex"|"enum"|"pointer"|"reference"|"member pointer"|"array"|"struct"|"class"|"union"|"function"|"typedef"|"const"|"volatile"|"restrict"|"atomic"|"unknown"
---@field size integer|nil  bytes; nil when it is not known
---@field signed boolean
---@field target xcore.Type|nil  of pointers, arrays, typedefs, qualifiers, enums; of functions the result
---@field count integer|nil  elements of an array
---@field incomplete boolean  declared only
local type_ = {}
---Typedefs and qualifiers removed, and a declaration completed.
---@return xcore.Type
function type_:strip() end
---The type of pointers to it.
---@return xcore.Type
function type_:pointer() end
---The type of arrays of so many of it.
---@param count integer
---@return xcore.Type
function type_:array(count) end

---@class xcore.Member
---@field name string|nil
---@field type xcore.Type
---@field offset integer|nil  bytes
---@field bit_offset integer|nil
---@field bit_size integer|nil
---@field base boolean

---Members of a struct, union or class, base classes first. Empty for other types. The offset of a virtual base is nil:
---it
---depends on the object.
---2 µs for ten members: keep it outside of loops.
---@return xcore.Member[]
function type_:members() end
---Of an enum, in the order of the declaration. Empty for other types.
---@return {name: string, value: integer}[]
function type_:enumerators() end

-- The answer ----------------------------------------------------------------------------------------------------
--
-- Sections of plugins appear in text, JSON and HTML alike. Keys are JSON keys (lower_case); text and HTML show `label`,
-- by default the key with spaces. Integers from the target may be passed unchanged: counts, bytes and addresses are
-- unsigned. nil, and a number that is not finite, are unknown. A run may make 1,000 sections, 4,096 items per section,
-- a million rows per table and 256 MiB in all. Printed lines are never redacted: put the user's data into sections,
-- marked as secret.

---@class xcore.Report
local report = {}
---The section with this key: created by the first call, and returned again by later ones.
---Raises `usage` for a key that is not lower_case.
---@param key string
---@param title? string
---@return xcore.Section
function report:section(key, title) end

---@class xcore.FieldOptions
---@field label? string
---@field secret? boolean  the user's data: "(redacted)" where redaction is on
---@field quiet? boolean  JSON only

---@class xcore.Section
local section = {}
---One line below the title, for people.
---@param text string
function section:headline(text) end
---A text field. The target's bytes may be passed as they are: they are escaped. This and the next: a second field with
---the same key is
---"key_2" in JSON, and a value of the wrong sort raises `usage` with the key's name.
---@param key string
---@param value string|nil
---@param options? xcore.FieldOptions
function section:text(key, value, options) end
---A count: unsigned, shown with thousands separators.
---@param key string
---@param value integer|nil
---@param options? xcore.FieldOptions
function section:count(key, value, options) end
---Signed, without thousands separators: ids, differences.
---@param key string
---@param value integer|nil
---@param options? xcore.FieldOptions
function section:integer(key, value, options) end
---A size in bytes, unsigned: people see KiB, MiB, GiB.
---@param key string
---@param value integer|nil
---@param options? xcore.FieldOptions
function section:bytes(key, value, options) end
---An address, as "0x…". A value gives its own.
---@param key string
---@param value integer|xcore.Value|nil
---@param options? xcore.FieldOptions
function section:address(key, value, options) end
---yes or no.
---@param key string
---@param value boolean|nil
---@param options? xcore.FieldOptions
function section:bool(key, value, options) end
---A time in seconds: people see ms below a second.
---@param key string
---@param value number|nil
---@param options? xcore.FieldOptions
function section:seconds(key, value, options) end
---A fraction of one, shown in per cent.
---@param key string
---@param value number|nil
---@param options? xcore.FieldOptions
function section:ratio(key, value, options) end
---A real number without a unit: means, load factors.
---@param key string
---@param value number|nil
---@param options? xcore.FieldOptions
function section:number(key, value, options) end
---A value of the target with its C type, as `xcore print` shows it; JSON has it under `values`. It is secret unless
---`secret = false` says otherwise. Numbers and strings have lost their C type: xcore.ref keeps it.
---@param key string
---@param value any
---@param options? xcore.FieldOptions
function section:value(key, value, options) end
---An unknown value, with the reason.
---@param key string
---@param why string
---@param options? xcore.FieldOptions
function section:unknown(key, why, options) end
---Preformatted lines.
---@param key string
---@param text string
---@param options? xcore.FieldOptions
function section:lines(key, text, options) end
---A note. This and the next two are shown below the fields; `hint` is advice.
---@param text string
---@param hint? string
function section:note(text, hint) end
---Something may be wrong.
---@param text string
---@param hint? string
function section:warning(text, hint) end
---Something is wrong.
---@param text string
---@param hint? string
function section:problem(text, hint) end

---@class xcore.Column
---@field [1] string  key
---@field [2] "text"|"count"|"integer"|"number"|"bytes"|"address"|"bool"|"seconds"|"ratio"
---@field label? string  the key in capitals, with spaces, unless given
---@field secret? boolean
---@field verbose? boolean  left out of text when the table is too wide

---A table; rows are added to what it returns. Raises `usage` for two columns of one key.
---@param key string
---@param columns xcore.Column[]
---@return xcore.Table
function section:table(key, columns) end
---@class xcore.Table
local table_ = {}
---A value for each column; nil is unknown.
---Raises `usage` for a value too many or of the wrong sort, `limit` for more than a million rows.
---@param ... any
function table_:row(...) end

---Weighted paths, merged by common beginnings: what a flame graph shows.
---@param key string
---@param options? {unit?: string, title?: string}
---@return xcore.Tree
function section:tree(key, options) end
---@class xcore.Tree
local tree = {}
---Add to the weight of this path. Raises `usage` for a path of no names or of too many.
---@param path string[]  outermost first
---@param weight integer
function tree:add(path, weight) end

---The counts of the histogram so far: a table in JSON, bars in text and HTML. Raises `limit` when it has too many
---buckets.
---@param key string
---@param histogram xcore.Histogram
---@param options? {label?: string}
function section:histogram(key, histogram, options) end

-- Stacks --------------------------------------------------------------------------------------------------------
--
-- What a plugin's `stacks` function knows of stacks: how to unwind code that has no call frame information (a JIT's, an
-- interpreter's inner loop), and the frames of an interpreted language, which stand in the interpreter's own data.
-- Everything that shows
-- stacks asks for it first: `xcore bt`, `analyze`, `flame stacks`. Told code takes effect at once for
-- `thread:frames()`, so that a plugin
-- tells code first, then looks at frames to place its own.

---@class xcore.Stacks
---@field detached boolean  are stacks on no thread shown (`bt --coroutines`)? If not, do not search memory for them.
local stacks = {}

---The stacks of this run: for commands and scripts, which are not asked for `stacks`. What is told to them takes effect
---for
---`thread:frames()` and is forgotten at the end of the run.
---@return xcore.Stacks
function target:stacks() end

---How to unwind a range of code, and what to call it. Names of registers are the machine's: "rsp", "x30"; "pc", "sp"
---and "fp" everywhere.
---@class xcore.Code
---@field lo integer|xcore.Value
---@field hi integer|xcore.Value  inclusive; lo unless given
---@field cfa? {[1]: string, [2]: integer}  {"rsp", 112}: the stack pointer of the caller is this register and so many bytes; without it the range is only named
---@field saved? table<string, integer|string>  where the caller's registers are: an offset from the CFA, or the name of a register that holds
---  the value. "pc" ("rip") or the link register ("x30") is the return address: unless given, the word below the CFA
---  where calls push it, else
---  in the link register. Registers that calls preserve are unchanged unless given, the others are lost
---@field override? boolean  goes before the debug information and call frame information of this range; else both are for what has none
---@field name? string  of the function: "TRACE 3"
---@field file? string
---@field line? integer
---@field language? string

---Where ranges overlap, the one told last is right. Raises `usage` for a register that the machine does not have, and
---`limit` past 65,536
---ranges.
---@param code xcore.Code
function stacks:code(code) end

---One frame of an interpreted language.
---@class xcore.Row
---@field name? string  of the function; "?" is shown when it is not known
---@field file? string
---@field line? integer
---@field language? string  "lua", "python"; the plugin's name unless given
---@field kind? string  "function" unless given; "builtin", "C", "trace", "main", …
---@field pc? integer|xcore.Value  the address of its code
---@field args? xcore.RowVariable[]
---@field locals? xcore.RowVariable[]
---@field upvalues? xcore.RowVariable[]  shown as locals of the type "upvalue"

---An argument, local or upvalue. The values are the user's data: they are left out wherever redaction is on.
---@class xcore.RowVariable
---@field name string
---@field type? string
---@field value? string  text, as the language would write it
---@field why? string  why there is no value

---Frames of a language's own that belong to a thread's stack. They are shown directly after, as callers of, the
---machine's frame that
---holds `at` (sp <= at < cfa); in their order, several calls by `at`. A frame that no machine's frame holds is counted
---in a
---note. Raises `usage` for a row that is none, and `limit` past 262,144 rows of a run.
---@param tid integer
---@param at integer|xcore.Value  an address on the thread's stack
---@param rows xcore.Row[]  innermost first
function stacks:frames(tid, at, rows) end

---A stack that is on no thread: of a coroutine, a fiber, a green thread. `xcore bt --coroutines` shows them. Raises
---like frames.
---@param stack {name: string, state?: string, rows: xcore.Row[]}  state: "suspended", …
function stacks:stack(stack) end

-- Profiles ------------------------------------------------------------------------------------------------------
--
-- Where a running process spends its time, as `xcore profile` tells it, for scripts and commands of plugins. The kernel
-- takes the samples, the target is not stopped, and a child of xcore unwinds them. A sample stands for `period` units.

---@class xcore.Profile
---@field account string  how it was sampled, and what was lost, in a line
---@field warnings string[]
---@field unit string  "ns", or what the event counts
---@field period integer
---@field seconds number
---@field samples integer  of all stacks
---@field waiting integer  those of them that are of waiting threads
---@field functions xcore.ProfileFunction[]  those with most samples of their own first
---@field stacks xcore.ProfileStack[]  those with most samples first
---@field left_out integer  samples of the stacks that are not listed

---@class xcore.ProfileFunction
---@field name string
---@field module string|nil
---@field language string|nil  nil: native code
---@field self integer  samples of its own
---@field total integer  with what it calls
---@field file string|nil  of its hottest line
---@field line integer|nil

---@class xcore.ProfileStack
---@field samples integer
---@field thread integer  0: threads that were not told apart
---@field thread_name string|nil
---@field waits_for string|nil  nil: it runs
---@field frames xcore.ProfileFrame[]  innermost first; equal frames are one table

---@class xcore.ProfileFrame
---@field name string
---@field module string|nil
---@field language string|nil
---@field kind "native"|"inlined"|"kernel"|"signal"|"guess"|"interpreted"|"jit"|"remark"
---@field file string|nil
---@field line integer|nil

---Samples the process, which must be a running one, and waits for that; the time counts for --max-time. In `xcore run`
---and `xcore shell` only. Raises `unsupported` for cores, and elsewhere; `permission`, where the kernel refuses perf events.
---@param options? {seconds?: number, hz?: integer, clock?: "cpu"|"off"|"wall", event?: string, thread?: integer, stacks?: integer}  default: 10 seconds, 99 Hz, "cpu", and 1,000 stacks
---@return xcore.Profile
function target:profile(options) end

-- Samples -------------------------------------------------------------------------------------------------------
--
-- What a plugin's `samples` function tells when `xcore profile` begins. It declares the interpreter's code and returns a
-- function, which is called for each frame of a sample there, or in code of no module, from the inside out, while the
-- stack is unwound. Registers and the C stack (t:read, t:u64 at its addresses) are those of the sample's instant. All other
-- memory is read later: what is on the heap may have changed. So the function proves what it tells by the registers, and
-- returns as torn what it cannot prove.
--
-- The state lives as long as the profile: what does not change is read once and kept. A call should take some 10 µs; one
-- that takes a second ends the plugin's part.

---@class xcore.Samples
local samples = {}

---Asks for frames in this code, both ends inclusive. At most 64 ranges. For frames in code of no module (a JIT's) every
---such plugin is asked, until one has an answer.
---@param lo integer
---@param hi integer
function samples:watch(lo, hi) end

---Rules for code without call frame information, as of stacks:code. The frame at hand is unwound by them at once.
---@param code xcore.Code
function samples:code(code) end

---Makes a place in a program: a number for the lists of the function. Make each once. Raises `limit` past a million.
---@param place {name: string, file?: string, line?: integer, kind?: string, language?: string}  language: the plugin's name unless given
---@return integer
function samples:place(place) end

---Gives the function of a place another name, also in stacks that have it already: its name was not known before.
---@param place integer
---@param name string
function samples:rename(place, name) end

---Offers a dimension by which samples can be told apart besides: `xcore profile --by PLUGIN.name`. Returns whether it
---is asked for; if not, the plugin need not prepare for it. If it is, `value_of` is called for frames in the code of
---samples:watch, from the inside out, until it tells the value: a text, of which 200 different ones are kept (of more,
---the later ones are "(others)"). It returns nil for a frame that does not know it ("(none)", if none does), and false
---for one whose value cannot be read any more ("(not read)"). The second result tells how sure it is: "sample" where
---all was read from registers and the stack; else when what it is of began, in seconds since 1970, or nil. Such a value
---counts only if the frame's callers wait as in the sample, before and after the call of `value_of`, and what it is of
---began a millisecond before the sample, or all that was within 0.3 ms; else it is "(not read)", too. At most 16
---dimensions.
---@param name string  lower-case letters, digits and _
---@param value_of fun(frame: xcore.Frame, sample: {tid: integer}): string|false|nil, "sample"|number|nil
---@return boolean asked
function samples:dimension(name, value_of) end

---@alias xcore.Sampler fun(frame: xcore.Frame, sample: {tid: integer}): integer[]|nil, boolean|nil
---  `frame` is valid during the call only. `sample` is a table of its own for each sample, to keep what the next frame of it
---  needs. Returns places, innermost first, that this frame runs, nil or none for a frame that is not the plugin's; 0 among
---  them is what could not be proved. The second result is true when the list is torn: without a 0 it is at its end.

-- Plugins -------------------------------------------------------------------------------------------------------

---A plugin is a file NAME.lua, or NAME/init.lua, that returns this table; an unknown key is an error. `require
---"NAME.part"` loads NAME/part.lua next to it, and `require "lib.walk"` the shared walkers. The file also runs without
---a target, to read this table: expensive work, and `require` of large parts, belong in the functions.
---@class xcore.Plugin
---@field name string  that of the file: lower-case letters, digits and _
---@field about string  one line
---@field doc? string  more, for `xcore plugin doc`
---@field match? xcore.Match  the targets that it matches; `analyze` needs it
---@field analyze? fun(t: xcore.Target, report: xcore.Report)  adds sections to `xcore analyze`
---@field claims? fun(t: xcore.Target, heap: xcore.Heap)  what it knows of blocks within blocks (`heap:claim`), for `xcore heap`
---@field stacks? fun(t: xcore.Target, stacks: xcore.Stacks)  frames of other languages and how to unwind code without call frame information
---@field samples? fun(t: xcore.Target, samples: xcore.Samples): xcore.Sampler|nil  frames of other languages in the samples of `xcore profile`
---@field commands? table<string, xcore.Command>
---@field flames? table<string, xcore.Flame>

---Each list must have a hit, but a hit in either symbols or strings is enough for both.
---@class xcore.Match
---@field modules? string[]  names with shell patterns: "redis-server", "libluajit*"; "*" is every target
---@field symbols? string[]  of the symbol tables
---@field strings? string[]  texts in the read-only data of a module, for programs whose symbols were stripped; looked for when no symbol was found
---@field types? string[]  of the debug information; looked for last, since that may take building an index

---@class xcore.Command
---@field about string
---@field usage? string  of its arguments: "KEY [--db N]"
---@field run fun(t: xcore.Target, report: xcore.Report, args: string[])

---@class xcore.Flame
---@field about string
---@field unit? string
---@field run fun(t: xcore.Target, tree: xcore.Tree)

return xcore
