-- Objects that no core of the corpora has: headers in several buffers, addresses of all families, damaged containers.
local LAYOUT = [[
	typedef unsigned char u_char;
	typedef unsigned long size_t, ngx_uint_t;
	typedef struct { size_t len; u_char *data; } ngx_str_t;
	typedef struct { u_char *pos, *last, *start, *end; } ngx_buf_t;
	typedef struct ngx_chain_s { ngx_buf_t *buf; struct ngx_chain_s *next; } ngx_chain_t;
	typedef struct { ngx_chain_t *busy; } ngx_http_connection_t;
	typedef struct { ngx_buf_t *buffer; } ngx_connection_t;
	typedef struct { ngx_str_t request_line; ngx_buf_t *header_in; ngx_http_connection_t *http_connection;
		ngx_connection_t *connection; } ngx_http_request_t;
	typedef struct { void *elts; ngx_uint_t nelts; size_t size; ngx_uint_t nalloc; } ngx_array_t;
	typedef struct ngx_list_part_s { void *elts; ngx_uint_t nelts; struct ngx_list_part_s *next; } ngx_list_part_t;
	typedef struct { ngx_list_part_t *last; ngx_list_part_t part; size_t size; ngx_uint_t nalloc; } ngx_list_t;
]]

local FIRST = "GET /old HTTP/1.1\r\n\r\nGET /new HTTP/1.1\r\nHost\0 one\0\nX-Long: begins"
local SECOND = "X-Long\0 begins here\0\nX-Other: beg"
local THIRD = "X-Other\0 begins there\0\n\r\n"

-- The second request of a connection, with a header in its buffer and two larger ones; the last of these comes first.
local function buffer(at, text)
	return { "ngx_buf_t", { start = at, pos = at + #text, last = at + #text, ["end"] = at + 0x100 } }
end

local request = {
	cdef = LAYOUT, memory = { [0x9000] = FIRST, [0x9100] = SECOND, [0x9200] = THIRD },
	objects = {
		r = { "ngx_http_request_t", { request_line = { len = 17, data = 0x9000 + 21 }, header_in = "third", http_connection = "hc",
			connection = "c" } },
		c = { "ngx_connection_t", { buffer = "first" } }, hc = { "ngx_http_connection_t", { busy = "newest" } },
		newest = { "ngx_chain_t", { buf = "third", next = "older" } }, older = { "ngx_chain_t", { buf = "second" } },
		first = buffer(0x9000, FIRST), second = buffer(0x9100, SECOND), third = buffer(0x9200, THIRD),
	},
}

local containers = {
	cdef = LAYOUT, memory = { [0x9000] = string.pack("<I8I8I8", 1, 2, 3) },
	objects = {
		array = { "ngx_array_t", { elts = 0x9000, nelts = 3, size = 8 } },
		nowhere = { "ngx_array_t", { nelts = 3, size = 8 } },
		endless = { "ngx_array_t", { elts = 0x9000, nelts = 1 << 60, size = 8 } },
		list = { "ngx_list_t", { part = { elts = 0x9000, nelts = 2, next = "rest" }, size = 8 } },
		rest = { "ngx_list_part_t", { elts = 0x9010, nelts = 1 } },
		ring = { "ngx_list_t", { part = { elts = 0x9000, nelts = 1, next = "again" }, size = 8 } },
		again = { "ngx_list_part_t", { elts = 0x9000, nelts = 1, next = "again" } },
	},
}

local function sum(elements)
	local total = 0
	for _, value in elements do total = total + value end
	return total
end

local function fails(fn)
	local done, err = pcall(fn)
	assert(not done and (err.kind == "fault" or err.kind == "format"), "damage was not noticed: " .. tostring(err))
end

return {
	{
		name = "a header in three buffers is joined, without the previous request", fixture = request,
		run = function(t)
			local text = assert(require("nginx.raw").text(t, t:var "r"))
			assert(text == "GET /new HTTP/1.1\r\nHost: one\r\nX-Long: begins here\r\nX-Other: begins there\r\n\r\n", text)
		end,
	},
	{
		name = "arrays and lists, and damaged ones", fixture = containers,
		run = function(t)
			local list = require "nginx.list"
			assert(sum(list.array(t:var "array", "ngx_uint_t")) == 6)
			assert(sum(list.list(t:var "list", "ngx_uint_t")) == 6)
			fails(function() sum(list.array(t:var "nowhere", "ngx_uint_t")) end)
			fails(function() sum(list.array(t:var "endless", "ngx_uint_t")) end)
			fails(function() sum(list.list(t:var "ring", "ngx_uint_t")) end)
		end,
	},
	{
		name = "addresses in human-readable form", fixture = { cdef = LAYOUT, objects = {} },
		run = function()
			local text = require("nginx.net").text
			assert(text("\2\0\x1f\x90\127\0\0\1" .. ("\0"):rep(8), "little") == "127.0.0.1:8080")
			local function inet6(words) return text("\10\0\0\80\0\0\0\0" .. words .. "\0\0\0\0", "little") end
			assert(inet6(("\0"):rep(15) .. "\1") == "[::1]:80")
			assert(inet6("\x20\1\x0d\xb8" .. ("\0"):rep(8) .. "\0\1\0\2") == "[2001:db8::1:2]:80")
			assert(inet6("\x20\1\0\0\0\1\0\0\0\0\0\1\0\1\0\1") == "[2001:0:1::1:1:1]:80")
			assert(inet6(("\0"):rep(16)) == "[::]:80")
			assert(text("\1\0/run/a.sock\0\0", "little") == "unix:/run/a.sock")
			assert(text("\1\0\0name\0", "little") == "unix:@name")
			assert(text("\0\2\0\80\1\2\3\4", "big") == "1.2.3.4:80")
			assert(text("\2", "little") == nil and text("\77\0\0\0", "little") == nil)
		end,
	},
	{
		name = "arguments", fixture = { cdef = LAYOUT, objects = {} },
		run = function()
			local parse = require("lib.args").parse
			local options = parse({ "--limit", "3", "x", "--raw", "--kind=keep" }, { limit = "number", raw = "flag", kind = "text" }, 1)
			assert(options.limit == 3 and options[1] == "x" and options.raw and options.kind == "keep")
			for _, wrong in ipairs { { "--limit", "x" }, { "--limit" }, { "--nope" }, { "y", "z" } } do
				local done, err = pcall(parse, wrong, { limit = "number" }, 1)
				assert(not done and err.kind == "usage", wrong[1])
			end
		end,
	},
}
