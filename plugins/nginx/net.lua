-- net.lua: addresses of sockets in human-readable form.
--
--	sockaddr_in   | family 2 | port, big-endian | address, 4 bytes |
--	sockaddr_in6  | family 2 | port             | flow info 4      | address, 16 bytes |
--	sockaddr_un   | family 2 | path, up to its NUL; a NUL first: an abstract name |          (Linux)
local str = require "nginx.str"

local net = {}

local UNIX, INET, INET6 = 1, 2, 10
local LONGEST = 110

-- Sixteen bytes in RFC 5952 form: the longest run of zeros is "::".
local function inet6(bytes)
	local words, best, length, run = { (">I2I2I2I2I2I2I2I2"):unpack(bytes) }, nil, 1, 0
	for i = 1, 8 do
		run = words[i] == 0 and run + 1 or 0
		if run > length then best, length = i - run + 1, run end
	end
	local function text(from, to)
		local parts = {}
		for i = from, to do parts[#parts + 1] = ("%x"):format(words[i]) end
		return table.concat(parts, ":")
	end
	if not best then return text(1, 8) end
	return text(1, best - 1) .. "::" .. text(best + length, 8)
end

local function path_of(bytes)
	if bytes:sub(1, 1) == "\0" and #bytes > 1 then return "unix:@" .. bytes:sub(2):gsub("%z+$", "") end
	return "unix:" .. bytes:match "^%Z*"
end

-- The text of the bytes of a sockaddr, and its port if it has one; nil if the family is unknown.
function net.text(bytes, order)
	if #bytes < 2 then return nil end
	local family = ((order == "big" and ">" or "<") .. "I2"):unpack(bytes)
	if family == INET and #bytes >= 8 then
		local port, a, b, c, d = (">I2BBBB"):unpack(bytes, 3)
		return ("%d.%d.%d.%d:%d"):format(a, b, c, d, port), port
	elseif family == INET6 and #bytes >= 24 then
		local port = (">I2"):unpack(bytes, 3)
		return ("[%s]:%d"):format(inet6(bytes:sub(9, 24)), port), port
	elseif family == UNIX then
		return path_of(bytes:sub(3))
	end
end

-- The same for a pointer and a length in the target; nil for NULL and unreadable memory.
function net.at(t, addr, length)
	if addr == nil or length < 2 then return nil end
	local done, bytes = pcall(t.read, t, addr, math.min(length, LONGEST))
	if done then return net.text(bytes, t.endian) end
end

-- The peer of an ngx_peer_connection_t, by its address or its name; nil if it is not known yet.
function net.peer(t, peer)
	local found = net.at(t, peer.sockaddr, peer.socklen) or peer.name and str.try(peer.name, 256)
	if found or not peer.connection then return found end
	return net.at(t, peer.connection.sockaddr, peer.connection.socklen)
end

return net
