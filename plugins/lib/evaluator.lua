-- evaluator: interpreters that are one big C function, in the samples of a profile. Its C frame and registers are of
-- the sample's instant: what it works on is in one of them, always the same, which is found by votes.
local evaluator = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LARGEST = 4096 -- bytes of its C frame
local LEARNING = 30  -- samples
local MARGIN = 8     -- votes that a place needs more than the next one
local PATIENCE = 240 -- samples without a margin
local RECHECK = 16   -- samples
local CHAIN = 2000   -- frames
local OUTER = 4      -- votes that are lost by holding an outer frame

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

-- Finds the word that `is(word, words)` proves. `previous(word)`: the frame outside of that one, 0: none; nil: words
-- are no frames. An outer frame may be proved, too, by a word that is left over; even alone, when the inner one has
-- ended since. So a place that was seen to hold an outer frame is suspected, and not believed until it is learned.
function evaluator.finder(is, previous)
	return { is = is, previous = previous, votes = {}, outer = {}, tries = 0, uses = 0 }
end

local function proves(finder, word, words)
	if not word or word & 7 ~= 0 or word < 4096 or word > POINTER then return false end
	local ok, is = pcall(finder.is, word, words)
	return ok and is
end

-- The words that are proved, by key, and how many different ones.
local function proved(finder, words)
	local found, distinct, count = {}, {}, 0
	for key, word in pairs(words) do
		if proves(finder, word, words) then
			found[key] = word
			if not distinct[word] then distinct[word], count = true, count + 1 end
		end
	end
	return found, count
end

-- Counts and removes words that are frames outside of `word`.
local function drop_outer(finder, found, word)
	for _ = 1, CHAIN do
		local ok, outer = pcall(finder.previous, word)
		if not ok or outer == 0 then return end
		word = outer
		for key, other in pairs(found) do
			if other == word then found[key], finder.outer[key] = nil, (finder.outer[key] or 0) + 1 end
		end
	end
end

-- The innermost words that are proved, by key.
local function innermost(finder, words)
	local found, count = proved(finder, words)
	for key in pairs(found) do finder.votes[key] = (finder.votes[key] or 0) + 1 end
	if not finder.previous or count < 2 then return found end
	local all = {}
	for _, word in pairs(found) do all[word] = true end
	for word in pairs(all) do drop_outer(finder, found, word) end
	return found
end

local function score(finder, key) return (finder.votes[key] or 0) - OUTER * (finder.outer[key] or 0) end

-- Is one place rather it than another? On a tie registers are, and what is nearer to the frame's end.
local function is_rather(finder, key, other)
	if other == nil then return true end
	local a, b = score(finder, key), score(finder, other)
	if a ~= b then return a > b end
	if type(key) ~= type(other) then return type(key) == "string" end
	return key < other
end

local function learn(finder)
	finder.tries = finder.tries + 1
	if finder.tries < LEARNING then return end
	local best, second
	for key in pairs(finder.votes) do
		if is_rather(finder, key, best) then
			best, second = key, best
		elseif is_rather(finder, key, second) then
			second = key
		end
	end
	if not best then return end
	local clear = not second or score(finder, best) >= score(finder, second) + MARGIN or type(best) ~= type(second)
	if clear and not finder.outer[best] or finder.tries >= PATIENCE then finder.learned = best end
end

-- Looks now and then whether the learned place is that of an outer frame. Then it is learned again.
local function recheck(finder, words)
	finder.uses = finder.uses + 1
	if not finder.previous or finder.uses % RECHECK ~= 0 then return end
	local before = finder.outer[finder.learned]
	innermost(finder, words)
	if finder.outer[finder.learned] ~= before then finder.learned = nil end
end

-- The word; once its place is learned, also if it proves nothing now, with false as the second result. nil: not found.
function evaluator.find(finder, words)
	if finder.learned then recheck(finder, words) end
	local learned, best = finder.learned, nil
	if learned then return words[learned], words[learned] and proves(finder, words[learned], words) end
	local found = innermost(finder, words)
	for key in pairs(found) do
		if not finder.outer[key] and is_rather(finder, key, best) then best = key end
	end
	learn(finder)
	return best and words[best], best ~= nil
end

-- The same for a C frame. Once the place is learned, mostly registers prove it, and the rest of the C frame is not
-- read.
function evaluator.find_in(finder, t, one, registers)
	local learned = finder.learned
	if learned and (finder.uses + 1) % RECHECK ~= 0 then
		local words = {}
		for _, name in ipairs(registers) do words[name] = one:register(name) end
		if type(learned) == "number" and one.cfa then words[learned] = t:u64(one.cfa - learned) end
		if proves(finder, words[learned], words) then
			finder.uses = finder.uses + 1
			return words[learned], true
		end
	end
	return evaluator.find(finder, evaluator.words(t, one, registers))
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
