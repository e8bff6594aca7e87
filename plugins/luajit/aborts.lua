-- aborts: reasons why code is not compiled: places where recording began and was recently aborted (lj_jit.h,
-- HotPenalty), at most 64. After each abort the code must get about twice as hot before the next attempt; past 60000
-- its first instruction is replaced by one that does not count (lj_trace.c).
local xcore = require "xcore"
local bytecode = require "luajit.bytecode"
local listing = require "luajit.listing"
local name = require "luajit.name"

local aborts = {}

-- Names as in jit.v and jit.dump (lj_traceerr.h); the list has grown only at its end and by BLACKL.
local REASONS = {
	RECERR = "error thrown or hook called during recording", TRACEUV = "trace too short", TRACEOV = "trace too long", STACKOV = "trace too deep",
	SNAPOV = "too many snapshots", BLACKL = "blacklisted", RETRY = "retry recording", NYIBC = "NYI: bytecode", LLEAVE = "leaving loop in root trace",
	LINNER = "inner loop in root trace", LUNROLL = "loop unroll limit reached", BADTYPE = "bad argument type",
	CJITOFF = "JIT compilation disabled for function", CUNROLL = "call unroll limit reached", DOWNREC = "down-recursion, restarting",
	NYIFFU = "NYI: unsupported variant of FastFunc", NYICF = "NYI: C function", NYIFF = "NYI: FastFunc", NYIRETL = "NYI: return to lower frame",
	STORENN = "store with nil or NaN key", NOMM = "missing metamethod", IDXLOOP = "looping index lookup", NYITMIX = "NYI: mixed sparse/dense table",
	NOCACHE = "symbol not in cache", NYICONV = "NYI: unsupported C type conversion", NYICALL = "NYI: unsupported C function type",
	GFAIL = "guard would always fail", PHIOV = "too many PHIs", TYPEINS = "persistent type instability", MCODEAL = "failed to allocate mcode memory",
	MCODEOV = "machine code too long", MCODELM = "hit mcode limit (retrying)", SPILLOV = "too many spill slots",
	BADRA = "inconsistent register allocation", NYIIR = "NYI: cannot assemble IR instruction", NYIPHI = "NYI: PHI shuffling too complex",
	NYICOAL = "NYI: register coalescing too complex",
}

local COLUMNS = {
	{ "begins", "text" }, { "penalty", "count" }, { "again", "bool", label = "TRIED AGAIN" }, { "pc", "address", verbose = true },
	{ "code", "text", verbose = true }, { "reason", "text" },
}

-- File and line of the start of a recording, and whether it will be tried again: nil if the code was freed.
local function place(vm, pc)
	local pt, pos = listing.holding(vm, pc)
	if not pt then return "code that was freed" end
	local ins = bytecode.of(vm, pt):at(pos).name
	return name.place(vm, pt, pos), not (ins:find "^I[FIL]" and ins ~= "ITERL" and ins ~= "ITERC" and ins ~= "ITERN")
end

local function add(vm, rows, one, reasons)
	local pc = one.pc[vm.layout.mref]
	if pc == 0 then return false end
	local code = reasons[one.reason]
	local ok, where, again = pcall(place, vm, pc)
	if not ok then where, again = "code that was freed", nil end
	rows:row(where, one.val, again, pc, code, REASONS[code] or code or "reason " .. one.reason)
	return true
end

function aborts.add(vm, section)
	local reasons = vm:enum("LJ_TRERR_RECERR", "LJ_TRERR_")
	local rows, seen = section:table("aborts", COLUMNS), 0
	for _, one in xcore.each(vm.J.penalty) do
		if add(vm, rows, one, reasons) then seen = seen + 1 end
	end
	section:headline(seen == 0 and "no recent recording was aborted" or
		"places where recording was aborted; each abort raises the penalty, and past 60000 recording is not tried again")
end

return aborts
