-- Chains that no core of the corpora has: buffers in files, in memory and files, with flags only, and damaged ones.
local LAYOUT = [[
	typedef unsigned char u_char;
	typedef unsigned long size_t, ngx_uint_t;
	typedef long off_t;
	typedef struct ngx_buf_s ngx_buf_t;
	struct ngx_buf_s { u_char *pos, *last; off_t file_pos, file_last; u_char *start, *end; void *tag, *file; ngx_buf_t *shadow;
		unsigned temporary:1, memory:1, mmap:1, recycled:1, in_file:1, flush:1, sync:1, last_buf:1, last_in_chain:1, last_shadow:1,
		temp_file:1; int num; };
	typedef struct ngx_chain_s ngx_chain_t;
	struct ngx_chain_s { ngx_buf_t *buf; ngx_chain_t *next; };
]]

local function chain(buf, next)
	return { "ngx_chain_t", { buf = buf, next = next } }
end

local function memory(from, to, more)
	local buf = { start = 0x9000, pos = from, last = to, ["end"] = 0x9100, temporary = 1 }
	for name, value in pairs(more or {}) do buf[name] = value end
	return { "ngx_buf_t", buf }
end

local fixture = {
	cdef = LAYOUT, memory = { [0x9000] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n" },
	objects = {
		first = chain("asked", "second"), second = chain("stored", "third"), third = chain("both", "fourth"), fourth = chain("flags"),
		asked = memory(0x9006, 0x9010), stored = { "ngx_buf_t", { file_pos = 100, file_last = 1100, in_file = 1 } },
		both = memory(0x9010, 0x9013, { file_pos = 7, file_last = 10, in_file = 1 }), flags = { "ngx_buf_t", { last_buf = 1, flush = 1 } },
		ring = chain("asked", "second_of_ring"), second_of_ring = chain("stored", "ring"),
		loop = chain("asked", "looped"), looped = chain("stored", "looped_again"), looped_again = chain("flags", "looped"),
		cut = chain("asked", 0x123456), lost = chain(0x123456, "last"), last = chain("backwards"), backwards = memory(0x9010, 0x9006),
		constant = chain("crlf"), crlf = { "ngx_buf_t", { pos = 0x900e, last = 0x9010, start = 0x1, ["end"] = 0x2, memory = 1 } },
	},
}

local function of(t, name)
	local xcore = require "xcore"
	return require("nginx.chain").of(xcore.cast(xcore.addr(t:var(name)), "ngx_chain_t *"))
end

return {
	{
		name = "buffers in memory count as memory, even if a file has them; flags count nothing", fixture = fixture,
		run = function(t)
			local all = of(t, "first")
			assert(#all.links == 4 and all.bytes == 10 + 3 and all.file == 1000 and all.bad == 0 and not all.why)
			local asked, both = all.links[1].value, all.links[3].value
			assert(asked.passed == 6 and asked.size == 0x100 and both.file == 3)
			local constant = of(t, "constant")
			assert(constant.bytes == 2 and constant.bad == 0 and not constant.links[1].value.size)
		end,
	},
	{
		name = "chains without an end and invalid buffers are reported", fixture = fixture,
		run = function(t)
			assert(of(t, "ring").why == "link 2 leads back to link 1" and #of(t, "ring").links == 2)
			assert(of(t, "loop").why == "link 3 leads back to link 2" and #of(t, "loop").links == 3)
			assert(of(t, "cut").why:find "not mapped" and #of(t, "cut").links == 1)
			local lost = of(t, "lost")
			assert(#lost.links == 2 and lost.bad == 2 and lost.bytes == 0 and not lost.links[1].value)
			assert(lost.links[2].value.why == "its pointers are not in order")
		end,
	},
}
