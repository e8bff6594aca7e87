-- What a case of a plugin's tests expects, against what came. Part of the program; differences are printed.
local module, index, got = ...
local case = require(module)[index]

local letters = { ["\n"] = "\\n", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }

local function quote(text)
	return '"' .. text:gsub('[%c"\\]', function(c) return letters[c] or ("\\%03d"):format(c:byte()) end) .. '"'
end

local function show(v)
	if type(v) == "string" then return quote(v) end
	if type(v) ~= "table" then return tostring(v) end
	local keys, parts = {}, {}
	for k in pairs(v) do keys[#keys + 1] = k end
	table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
	for i, k in ipairs(keys) do
		if i > 8 then parts[#parts + 1] = "…"; break end
		parts[#parts + 1] = (type(k) == "string" and k .. " = " or "") .. (type(v[k]) == "table" and "{…}" or show(v[k]))
	end
	return "{ " .. table.concat(parts, ", ") .. " }"
end

local compare

local function compare_tables(path, want, have)
	if #want > 0 and #want ~= #have then
		print(("%s: %d items, not %d: %s"):format(path, #have, #want, show(have)))
	end
	local keys = {}
	for k in pairs(want) do keys[#keys + 1] = k end
	table.sort(keys, function(a, b)
		if math.type(a) and math.type(b) then return a < b end
		return tostring(a) < tostring(b)
	end)
	for _, k in ipairs(keys) do
		compare(math.type(k) and ("%s[%s]"):format(path, k) or (path ~= "" and path .. "." or "") .. tostring(k),
			want[k], have[k])
	end
end

function compare(path, want, have)
	if type(want) == "function" then
		local right, why = want(have)
		if not right then print(("%s: %s: %s"):format(path, show(have), why or "the test's function says no")) end
	elseif type(want) == "table" and type(have) == "table" then
		compare_tables(path, want, have)
	elseif want ~= have then
		print(("%s: got %s, want %s"):format(path, show(have), show(want)))
	end
end

if case.error and not got.error then
	print("it did not fail; an error with " .. show(case.error) .. " was wanted")
elseif case.error and not got.error:find(case.error, 1, true) then
	print(("error: got %s, want one with %s"):format(show(got.error), show(case.error)))
elseif got.error and not case.error then
	print("error: " .. got.error)
end
if case.expect then compare("", case.expect, case.flame and got.flame or got.sections) end
if case.output then
	local want = type(case.output) == "table" and table.concat(case.output, "\n") or case.output
	compare("output", want, table.concat(got.output, "\n"))
end
if case.check then
	local right, why = case.check(got)
	if right == false then print("check: " .. tostring(why or "it says no")) end
end
