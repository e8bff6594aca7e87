-- glob.lua: Redis globs as patterns of Lua.
local glob = {}

-- A class of a glob, "[a-c^]", after its bracket: as a class of a Lua pattern, and its end.
local function class(text, at)
	local set = ""
	if text:sub(at, at) == "^" then
		at, set = at + 1, "^"
	end
	while at <= #text and text:sub(at, at) ~= "]" do
		local from, to = text:match("^([^\\])%-([^%]])", at)
		if from then
			set, at = ("%s%s-%s"):format(set, from, to), at + 3
		else
			if text:sub(at, at) == "\\" then at = at + 1 end
			set, at = set .. text:sub(at, at):gsub("%W", "%%%0"), at + 1
		end
	end
	return "[" .. set .. "]", at
end

-- A Redis glob (* ? [a-c] [^a] \x) as a Lua pattern.
function glob.pattern(text)
	local pattern, at = "^", 1
	while at <= #text do
		local c, piece = text:sub(at, at), nil
		if c == "*" then
			piece = pattern:sub(-2) == ".*" and "" or ".*"
		elseif c == "?" then
			piece = "."
		elseif c == "[" and text:find("]", at + 2, true) then
			piece, at = class(text, at + 1)
		else
			if c == "\\" and at < #text then
				at = at + 1
				c = text:sub(at, at)
			end
			piece = c:find "%w" and c or "%" .. c
		end
		pattern, at = pattern .. piece, at + 1
	end
	return pattern .. "$"
end

return glob
