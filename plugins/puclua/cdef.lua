-- Lua's structs as C declarations, for programs whose Lua has no debug information, as in the packages of
-- distributions. Facts of lobject.h, lstate.h and lfunc.h of Lua 5.1.5, 5.2.4, 5.3.6 and 5.4.4 with 64-bit pointers and
-- the default LUA_NUMBER. The program's own text selects the version ("$LuaVersion: Lua 5.4"), and each state that is
-- found proves it (vm.lua).
local xcore = require "xcore"

local cdef = {}

local COMMON = [[
typedef unsigned char lu_byte;
typedef unsigned int Instruction;
typedef struct lua_State lua_State;
typedef struct global_State global_State;
typedef struct Table Table;
typedef struct Proto Proto;
typedef struct CallInfo CallInfo;
typedef struct UpVal UpVal;
$gcobject
typedef union Value { GCObject *gc; void *p; int b; long i; double n; } Value;
typedef struct TValue { Value $value; $tag $tt; } TValue;
$strings
typedef struct LocVar { TString *varname; int startpc, endpc; } LocVar;
typedef struct stringtable { $bucket **hash; int nuse; int size; } stringtable;
]]

local OBJECT = [[typedef struct GCObject { struct GCObject *next; lu_byte tt, marked; } GCObject;]]
local STRING = [[typedef struct TString {
	GCObject *next; lu_byte tt, marked, extra, shrlen; unsigned int hash;
	union { size_t lnglen; struct TString *hnext; } u;
	$contents
} TString;]]
local CLOSURES = [[
typedef struct LClosure { GCObject *next; lu_byte tt, marked, nupvalues; GCObject *gclist; Proto *p; UpVal *upvals[1]; } LClosure;
typedef struct CClosure { GCObject *next; lu_byte tt, marked, nupvalues; GCObject *gclist; void *f; TValue upvalue[1]; } CClosure;
]]

local LG = [[
typedef struct LX { lu_byte extra_[8]; lua_State l; } LX;
typedef struct LG { LX l; global_State g; } LG;
]]

local V54 = CLOSURES .. [[
typedef union StackValue { TValue val; struct { Value value_; lu_byte tt_; unsigned short delta; } tbclist; } StackValue;
typedef StackValue *StkId;
struct UpVal { GCObject *next; lu_byte tt, marked; TValue *v; union { TValue value; struct { UpVal *next, **previous; } open; } u; };
typedef struct Upvaldesc { TString *name; lu_byte instack, idx, kind; } Upvaldesc;
typedef struct AbsLineInfo { int pc, line; } AbsLineInfo;
struct Proto {
	GCObject *next; lu_byte tt, marked, numparams, is_vararg, maxstacksize;
	int sizeupvalues, sizek, sizecode, sizelineinfo, sizep, sizelocvars, sizeabslineinfo, linedefined, lastlinedefined;
	TValue *k; Instruction *code; Proto **p; Upvaldesc *upvalues; signed char *lineinfo; AbsLineInfo *abslineinfo; LocVar *locvars;
	TString *source; GCObject *gclist;
};
typedef union UValue { TValue uv; } UValue;
typedef struct Udata {
	GCObject *next; lu_byte tt, marked; unsigned short nuvalue; size_t len; Table *metatable; GCObject *gclist; UValue uv[1];
} Udata;
typedef union Node { struct NodeKey { Value value_; lu_byte tt_, key_tt; int next; Value key_val; } u; TValue i_val; } Node;
struct Table {
	GCObject *next; lu_byte tt, marked, flags, lsizenode; unsigned int alimit; TValue *array; Node *node, *lastfree; Table *metatable;
	GCObject *gclist;
};
struct CallInfo {
	StkId func, top; CallInfo *previous, *next;
	union { struct { const Instruction *savedpc; int trap, nextraargs; } l; struct { void *k; long old_errfunc, ctx; } c; } u;
	union { int funcidx; int nyield; } u2;
	short nresults; unsigned short callstatus;
};
struct lua_State {
	GCObject *next; lu_byte tt, marked, status, allowhook; unsigned short nci; StkId top; global_State *l_G; CallInfo *ci;
	StkId stack_last, stack; UpVal *openupval; StkId tbclist; GCObject *gclist; lua_State *twups; void *errorJmp; CallInfo base_ci;
	void *hook; long errfunc; unsigned int nCcalls; int oldpc, basehookcount, hookcount, hookmask;
};
struct global_State {
	void *frealloc, *ud; long totalbytes, GCdebt; size_t GCestimate, lastatomic; stringtable strt; TValue l_registry, nilvalue;
	unsigned int seed;
	lu_byte currentwhite, gcstate, gckind, gcstopem, genminormul, genmajormul, gcstp, gcemergency, gcpause, gcstepmul, gcstepsize;
	GCObject *allgc, **sweepgc, *finobj, *gray, *grayagain, *weak, *ephemeron, *allweak, *tobefnz, *fixedgc, *survival, *old1, *reallyold,
		*firstold1, *finobjsur, *finobjold1, *finobjrold;
	lua_State *twups; void *panic; lua_State *mainthread; TString *memerrmsg, *tmname[25]; Table *mt[9]; TString *strcache[53][2];
	void *warnf, *ud_warn;
};
]] .. LG

local V53 = CLOSURES .. [[
typedef TValue *StkId;
struct UpVal { TValue *v; size_t refcount; union { struct { UpVal *next; int touched; } open; TValue value; } u; };
typedef struct Upvaldesc { TString *name; lu_byte instack, idx; } Upvaldesc;
struct Proto {
	GCObject *next; lu_byte tt, marked, numparams, is_vararg, maxstacksize;
	int sizeupvalues, sizek, sizecode, sizelineinfo, sizep, sizelocvars, linedefined, lastlinedefined;
	TValue *k; Instruction *code; Proto **p; int *lineinfo; LocVar *locvars; Upvaldesc *upvalues; LClosure *cache; TString *source;
	GCObject *gclist;
};
typedef struct Udata { GCObject *next; lu_byte tt, marked, ttuv_; Table *metatable; size_t len; Value user_; } Udata;
typedef union TKey { struct { Value value_; int tt_, next; } nk; TValue tvk; } TKey;
typedef struct Node { TValue i_val; TKey i_key; } Node;
struct Table {
	GCObject *next; lu_byte tt, marked, flags, lsizenode; unsigned int sizearray; TValue *array; Node *node, *lastfree; Table *metatable;
	GCObject *gclist;
};
struct CallInfo {
	StkId func, top; CallInfo *previous, *next;
	union { struct { StkId base; const Instruction *savedpc; } l; struct { void *k; long old_errfunc, ctx; } c; } u;
	long extra; short nresults; unsigned short callstatus;
};
struct lua_State {
	GCObject *next; lu_byte tt, marked; unsigned short nci; lu_byte status; StkId top; global_State *l_G; CallInfo *ci;
	const Instruction *oldpc; StkId stack_last, stack; UpVal *openupval; GCObject *gclist; lua_State *twups; void *errorJmp;
	CallInfo base_ci; void *hook; long errfunc; int stacksize, basehookcount, hookcount; unsigned short nny, nCcalls; int hookmask;
	lu_byte allowhook;
};
struct global_State {
	void *frealloc, *ud; long totalbytes, GCdebt; size_t GCmemtrav, GCestimate; stringtable strt; TValue l_registry; unsigned int seed;
	lu_byte currentwhite, gcstate, gckind, gcrunning;
	GCObject *allgc, **sweepgc, *finobj, *gray, *grayagain, *weak, *ephemeron, *allweak, *tobefnz, *fixedgc; lua_State *twups;
	unsigned int gcfinnum; int gcpause, gcstepmul; void *panic; lua_State *mainthread; const double *version;
	TString *memerrmsg, *tmname[24]; Table *mt[9]; TString *strcache[53][2];
};
]] .. LG

local V52 = [[
typedef TValue *StkId;
struct UpVal { GCObject *next; lu_byte tt, marked; TValue *v; union { TValue value; struct { UpVal *prev, *next; } l; } u; };
typedef struct LClosure { GCObject *next; lu_byte tt, marked, nupvalues; GCObject *gclist; Proto *p; UpVal *upvals[1]; } LClosure;
typedef struct CClosure { GCObject *next; lu_byte tt, marked, nupvalues; GCObject *gclist; void *f; TValue upvalue[1]; } CClosure;
typedef struct Upvaldesc { TString *name; lu_byte instack, idx; } Upvaldesc;
struct Proto {
	GCObject *next; lu_byte tt, marked; TValue *k; Instruction *code; Proto **p; int *lineinfo; LocVar *locvars; Upvaldesc *upvalues;
	void *cache; TString *source; int sizeupvalues, sizek, sizecode, sizelineinfo, sizep, sizelocvars, linedefined, lastlinedefined;
	GCObject *gclist; lu_byte numparams, is_vararg, maxstacksize;
};
typedef union Udata { double dummy; struct { GCObject *next; lu_byte tt, marked; Table *metatable, *env; size_t len; } uv; } Udata;
typedef union TKey { struct { Value value_; int tt_; struct Node *next; } nk; TValue tvk; } TKey;
typedef struct Node { TValue i_val; TKey i_key; } Node;
struct Table {
	GCObject *next; lu_byte tt, marked, flags, lsizenode; int sizearray; TValue *array; Node *node, *lastfree; Table *metatable;
	GCObject *gclist;
};
struct CallInfo {
	StkId func, top; CallInfo *previous, *next; short nresults; lu_byte callstatus; long extra;
	union {
		struct { StkId base; const Instruction *savedpc; } l;
		struct { int ctx; void *k; long old_errfunc; lu_byte old_allowhook, status; } c;
	} u;
};
struct lua_State {
	GCObject *next; lu_byte tt, marked, status; StkId top; global_State *l_G; CallInfo *ci; const Instruction *oldpc;
	StkId stack_last, stack; int stacksize; unsigned short nny, nCcalls; lu_byte hookmask, allowhook; int basehookcount, hookcount;
	void *hook; GCObject *openupval, *gclist; void *errorJmp; long errfunc; CallInfo base_ci;
};
typedef struct Mbuffer { char *buffer; size_t n, buffsize; } Mbuffer;
struct global_State {
	void *frealloc, *ud; size_t totalbytes; long GCdebt; size_t GCmemtrav, GCestimate; stringtable strt; TValue l_registry; unsigned int seed;
	lu_byte currentwhite, gcstate, gckind, gcrunning; int sweepstrgc;
	GCObject *allgc, *finobj, **sweepgc, **sweepfin, *gray, *grayagain, *weak, *ephemeron, *allweak, *tobefnz;
	UpVal uvhead; Mbuffer buff; int gcpause, gcmajorinc, gcstepmul; void *panic; lua_State *mainthread; const double *version;
	TString *memerrmsg, *tmname[17]; Table *mt[9];
};
typedef struct LG { struct LX { lua_State l; } l; global_State g; } LG;
]]

local V51 = [[
typedef TValue *StkId;
struct UpVal { GCObject *next; lu_byte tt, marked; TValue *v; union { TValue value; struct { UpVal *prev, *next; } l; } u; };
typedef struct LClosure { GCObject *next; lu_byte tt, marked, isC, nupvalues; GCObject *gclist; Table *env; Proto *p; UpVal *upvals[1]; } LClosure;
typedef struct CClosure { GCObject *next; lu_byte tt, marked, isC, nupvalues; GCObject *gclist; Table *env; void *f; TValue upvalue[1]; } CClosure;
struct Proto {
	GCObject *next; lu_byte tt, marked; TValue *k; Instruction *code; Proto **p; int *lineinfo; LocVar *locvars; TString **upvalues;
	TString *source; int sizeupvalues, sizek, sizecode, sizelineinfo, sizep, sizelocvars, linedefined, lastlinedefined; GCObject *gclist;
	lu_byte nups, numparams, is_vararg, maxstacksize;
};
typedef union Udata { double dummy; struct { GCObject *next; lu_byte tt, marked; Table *metatable, *env; size_t len; } uv; } Udata;
typedef struct Node { TValue i_val; union { struct { Value value; int tt; struct Node *next; } nk; TValue tvk; } i_key; } Node;
struct Table {
	GCObject *next; lu_byte tt, marked, flags, lsizenode; Table *metatable; TValue *array; Node *node, *lastfree; GCObject *gclist;
	int sizearray;
};
struct CallInfo { StkId base, func, top; const Instruction *savedpc; int nresults, tailcalls; };
struct lua_State {
	GCObject *next; lu_byte tt, marked, status; StkId top, base; global_State *l_G; CallInfo *ci; const Instruction *savedpc;
	StkId stack_last, stack; CallInfo *end_ci, *base_ci; int stacksize, size_ci; unsigned short nCcalls, baseCcalls;
	lu_byte hookmask, allowhook; int basehookcount, hookcount; void *hook; TValue l_gt, env; GCObject *openupval, *gclist; void *errorJmp;
	long errfunc;
};
typedef struct Mbuffer { char *buffer; size_t n, buffsize; } Mbuffer;
struct global_State {
	stringtable strt; void *frealloc, *ud; lu_byte currentwhite, gcstate; int sweepstrgc; GCObject *rootgc, **sweepgc, *gray, *grayagain,
		*weak, *tmudata; Mbuffer buff; size_t GCthreshold, totalbytes, estimate, gcdept; int gcpause, gcstepmul; void *panic;
	TValue l_registry; lua_State *mainthread; UpVal uvhead; Table *mt[9]; TString *tmname[17];
};
typedef struct LG { lua_State l; global_State g; } LG;
]]

local TAGGED = {
	value = "value", tag = "int", tt = "tt", bucket = "GCObject",
	gcobject = "typedef struct GCheader { union GCObject *next; lu_byte tt, marked; } GCheader;\ntypedef union GCObject { GCheader gch; } GCObject;",
	strings = [[typedef union TString {
	double dummy; struct { GCObject *next; lu_byte tt, marked, reserved; unsigned int hash; size_t len; } tsv;
} TString;]],
}

local TAGGED_WITH_UNDERLINES = { -- 5.2: the same but for the names of a value's parts
	value = "value_", tag = "int", tt = "tt_", bucket = TAGGED.bucket, gcobject = TAGGED.gcobject,
	strings = TAGGED.strings:gsub("reserved", "extra"),
}

local BUILDS = {
	{ "$LuaVersion: Lua 5.4", V54, { value = "value_", tag = "lu_byte", tt = "tt_", bucket = "TString", gcobject = OBJECT, strings = STRING,
		contents = "char contents[1];" } },
	{ "$LuaVersion: Lua 5.3", V53, { value = "value_", tag = "int", tt = "tt_", bucket = "TString", gcobject = OBJECT, strings = STRING, contents = "" } },
	{ "$LuaVersion: Lua 5.2", V52, TAGGED_WITH_UNDERLINES },
	{ "$Lua: Lua 5.1", V51, TAGGED },
}

-- Is a text in the loaded data of the program and its libraries?
local function has_text(t, text)
	local within = {}
	for _, map in ipairs(t:maps()) do
		if map.path and map.readable and not map.writable then within[#within + 1] = { map.lo, map.hi } end
	end
	for _ in t:find { bytes = text, within = within, max = 1 } do return true end
	return false
end

-- Declares the layout of the program's Lua version: returns the text, and nil if it names no known version.
function cdef.declare(t)
	if t.pointer_size ~= 8 then return nil end
	for _, build in ipairs(BUILDS) do
		if has_text(t, build[1]) then
			local text = (COMMON .. build[2])
			for _ = 1, 2 do text = text:gsub("%$(%l+)", build[3]) end
			xcore.cdef(text)
			return build[1]:match "Lua 5%.%d"
		end
	end
end

return cdef
