-- raw.lua: the header of a request as received.
--
-- It is in the connection's buffer or, if that was too small, in larger ones (hc->busy, the last one first). nginx
-- copies a line that is incomplete at the end of a buffer to the next buffer, where it is complete. Buffers before
-- the one in which the request begins belong to earlier requests. nginx puts a NUL after each name and value, over
-- ':' and CR; they are restored here: a NUL before LF was CR.
local xcore = require "xcore"
local damage = require "lib.damage"
local maybe = require "lib.maybe"

local raw = {}

local MOST, MOST_BUFFERS = 65536, 64

-- The buffers in the order of filling: {start, pos}.
local function buffers_of(r)
	local list, chain = {}, maybe.get(r, "http_connection.busy")
	for _ = 1, MOST_BUFFERS do
		if not chain then break end
		table.insert(list, 1, { maybe.addr(chain.buf, "start"), maybe.addr(chain.buf, "pos") })
		chain = chain.next
	end
	local first = { maybe.addr(r, "header_in.start"), maybe.addr(r, "header_in.pos") }
	if #list == 0 then return { first } end
	local own = maybe.get(r, "connection.buffer")
	if own then table.insert(list, 1, { maybe.addr(own, "start"), maybe.addr(own, "pos") }) end
	return list
end

local function text_of(t, r)
	local parts, from, begun = {}, maybe.addr(r, "request_line.data"), false
	local buffers = buffers_of(r)
	for i, buffer in ipairs(buffers) do
		local lo, hi = buffer[1], buffer[2]
		local here = from >= lo and from < hi
		if here then lo = from end
		begun = begun or here
		if begun and lo ~= 0 and hi > lo then
			local text = t:read(lo, math.min(hi - lo, MOST))
			parts[#parts + 1] = i < #buffers and (text:match "^.*\n" or "") or text
		end
	end
	local text = table.concat(parts):gsub("%z\n", "\r\n"):gsub("%z", ":")
	local _, last = text:find "\r?\n\r?\n" -- the body follows
	return last and text:sub(1, last) or text
end

-- The text, or nil and the reason.
function raw.text(t, r)
	if (maybe.addr(r, "stream") or 0) ~= 0 then return nil, "HTTP/2 has no header lines: its headers are compressed" end
	if not r.header_in then return nil, "it has no header buffer" end
	local text, why = damage.try(text_of, t, r)
	if text == "" then return nil, "nothing was received yet" end
	return text, why
end

function raw.add(t, section, r)
	local text, why = raw.text(t, r)
	if text then
		section:lines("raw", (text:gsub("\r\n", "\n")), { secret = true })
	else
		section:unknown("raw", why or "it cannot be read")
	end
end

return raw
