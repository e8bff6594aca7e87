-- evaluator: interpreters that are one big C function, in the samples of a profile. Its C frame and registers are of the
-- sample's instant: what it works on is in one of them, always the same, which is found by votes.
local evaluator = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LARGEST = 4096 -- bytes of its C frame
local LEARNING = 30  -- samples

local REGISTERS = {
	["x86-64"] = { "rbx", "rbp", "r12", "r13", "r14", "r15" },
	aarch64 = { "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28" },
}

-- The registers that calls preserve; nil: unknown for this machine.
function evaluator.registers(t) return REGISTERS[t.arch] end

-- Asks for the frames of a function.
function evaluator.watch(t, told, name)
	for _, part in ipairs { name, name .. ".cold" } do
		local it = t:has_symbol(part) and t:symbol(part)
		if it and it.size and it.size > 0 then told:watch(it.addr, it.addr + it.size - 1) end
	end
end

-- The words of a C frame, by key: registers by name, others by their distance from the frame's end.
function evaluator.words(t, one, registers)
	local words, sp, cfa = {}, one.sp, one.cfa
	for _, name in ipairs(registers) do words[name] = one:register(name) end
	if not cfa or cfa <= sp or cfa - sp > LARGEST then return words end
	local bytes = t:read(sp, cfa - sp)
	for at = 1, #bytes - 7, 8 do words[cfa - sp - at + 1] = unpack("<i8", bytes, at) end
	return words
end

-- A word that points into [lo, hi): those of registers first; nil if there is none.
function evaluator.points_into(words, lo, hi)
	local found
	for key, word in pairs(words) do
		if word >= lo and word < hi and (not found or type(key) == "string" and word > lo) then found = word end
	end
	return found
end

-- Finds the word that `is(word, words)` proves.
function evaluator.finder(is)
	return { is = is, votes = {}, tries = 0 }
end

local function proves(finder, word, words)
	if not word or word & 7 ~= 0 or word < 4096 or word > POINTER then return false end
	local ok, is = pcall(finder.is, word, words)
	return ok and is
end

local function learn(finder)
	finder.tries = finder.tries + 1
	if finder.tries < LEARNING then return end
	for key, votes in pairs(finder.votes) do
		if not finder.learned or votes > finder.votes[finder.learned] then finder.learned = key end
	end
end

-- The word; once its place is learned, also if it proves nothing now, with false as the second result. nil: not found.
function evaluator.find(finder, words)
	local learned = finder.learned
	if learned then return words[learned], words[learned] and proves(finder, words[learned], words) end
	local best
	for key, word in pairs(words) do
		if proves(finder, word, words) then
			finder.votes[key] = (finder.votes[key] or 0) + 1
			if not best or finder.votes[key] > finder.votes[best] then best = key end
		end
	end
	learn(finder)
	return best and words[best], best ~= nil
end

-- A function for the samples, of one that adds places to a list and returns whether they are torn. What cannot be read
-- is gone: torn, too.
function evaluator.sampler(step)
	return function(one, sample)
		local list = {}
		local ok, torn = pcall(step, one, sample, list)
		torn = not ok or torn or nil
		sample.torn = sample.torn or torn
		return list, torn
	end
end

return evaluator
