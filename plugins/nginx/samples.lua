-- samples.lua: whose request runs in a sample: the dimensions nginx.location and nginx.host of `xcore profile --by`.
--
--	`r` of a frame, by debug information; else a register that functions preserve ─→ ngx_http_request_t
--	r->loc_conf[], r->srv_conf[] ─→ configuration, which lives as long as the worker ─→ its name
--
-- The frame and its registers are those of the sample. The request is read later, when it may be gone, or another may
-- be in its place: it must be one, and xcore is told when it began, and compares the stack (samples:dimension).
local xcore = require "xcore"
local conf = require "nginx.conf"
local cycle = require "nginx.cycle"
local request = require "nginx.request"
local str = require "nginx.str"

local samples = {}

local HTTP = 0x50545448
local LONGEST_PROLOGUE = 32 -- bytes of a function in which its variables may not be set yet
local MOST = 50000          -- places in code, and configurations, that are kept
local PRESERVED = { ["x86-64"] = { "rbx", "rbp", "r12", "r13", "r14", "r15" }, i386 = { "ebx", "esi", "edi", "ebp" } }

-- ---- values ----

local function of_core(confs, index, type)
	return xcore.deref(xcore.cast(confs[index], type .. " *"))
end

local function location(confs, index)
	return conf.name(of_core(confs, index, "ngx_http_core_loc_conf_t")) or "(no location)"
end

local function host(confs, index)
	local name = str.try(of_core(confs, index, "ngx_http_core_srv_conf_t").server_name, 256)
	return name and name ~= "" and name or "(no name)"
end

local DIMENSIONS = { { "location", "loc_conf", location }, { "host", "srv_conf", host } }

-- ---- requests ----

-- A map that forgets all when it is full.
local function kept()
	local map, count = {}, 0
	return function(key, value)
		if value == nil then return map[key] end
		if count >= MOST then map, count = {}, 0 end
		map[key], count = value, count + 1
		return value
	end
end

-- The value for a request, and when it began (nginx's clock stands still in each turn of its loop); nil if there is
-- none at this address any more.
local function of_request(self, addr)
	if not request.proved(self.t, addr) then return nil end
	local r = self.t:value("ngx_http_request_t", addr)
	local confs = r[self.confs]
	local key = xcore.addr(confs)
	return self.texts(key) or self.texts(key, self.text(confs, self.index)), r.start_sec + r.start_msec / 1000
end

-- The address of the request that the variable `r` of a frame holds; nil if it has none.
local function by_variable(self, frame)
	local at = frame.at
	local has = self.places(at)
	if has == false then return nil end
	if has == nil then
		local lo = frame.index == 0 and self.t:code_range(at)
		if lo and at - lo < LONGEST_PROLOGUE then return nil end
	end
	local done, r = pcall(frame.var, frame, "r")
	if done and r == nil then return nil end
	if has == nil then
		has = self.places(at, done and tostring(xcore.typeof(r)):find "ngx_http_request_[st]" ~= nil)
	end
	return has and done and xcore.addr(r) or nil
end

local function is_request(t, addr)
	return addr and addr > 4096 and addr & 7 == 0 and t:readable(addr, 4) == 4 and t:u32(addr) == HTTP
end

local function by_register(self, frame)
	for _, name in ipairs(self.registers) do
		local addr = frame:register(name)
		if is_request(self.t, addr) then return addr end
	end
end

local function value_of(self, frame)
	local addr = by_variable(self, frame) or by_register(self, frame)
	if not addr then return nil end
	local done, text, since = pcall(of_request, self, addr)
	return done and text or false, since
end

-- ---- the beginning ----

local function watch(t, told)
	for i, module in ipairs(t:modules()) do
		local own = module.kind == "exe" or module.name:find "^ngx_" or module.name:find "_module%.so$"
		if own and i <= 64 then told:watch(module.lo, module.hi) end
	end
end

function samples.begin(t, told)
	local self
	for _, one in ipairs(DIMENSIONS) do
		local asked = told:dimension(one[1], function(frame) return value_of(self, frame) end)
		if asked then self = { t = t, confs = one[2], text = one[3], texts = kept(), places = kept() } end
	end
	if not self then return nil end
	cycle.known(t)
	local core = cycle.module(t, "ngx_http_core_module")
	if not core then error(xcore.error("not_found", "this nginx serves no HTTP")) end
	self.index, self.registers = core.ctx_index, PRESERVED[t.arch] or {}
	watch(t, told)
end

return samples
