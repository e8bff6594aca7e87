-- LuaJIT's types as C declarations for programs without debug information, built from the differences between builds.
-- guess.lua determines the build. Types and members have LuaJIT's names, so other code need not know where they come
-- from.
--
-- Checked against src/lj_obj.h, lj_jit.h, lj_ctype.h, lj_buf.h and lj_dispatch.h of LuaJIT 2.1.0-beta3 (2017-05) and
-- 2.1 of 2022-03, OpenResty's luajit2 of 2023-01 and 2025-10, on x86-64 in both widths. The memory of one VM
-- (GG_State), from low addresses to high:
--
--	| lua_State | global_State | jit_State | hotcount[64] | dispatch[] | bcff[] |
--	  main thread  allocf, gc,   cur trace,                 code        one instruction for each fast function
--	               strings, …    irbuf, trace[], …          addresses
local cdef = {}

local HEAD = [[
typedef uint32_t MSize, BCIns, BCReg, IRRef, TRef, SnapEntry, StrHash, StrID;
typedef int32_t BCLine;
typedef uint16_t IRRef1, TraceNo1, CTypeID1;
typedef $word GCSize;
typedef struct MRef { $word $mref; } MRef;
typedef struct GCRef { $word $ref; } GCRef;
typedef struct lua_State lua_State;
typedef struct global_State global_State;
typedef struct GCtab GCtab;
typedef struct GCproto GCproto;
typedef union GCfunc GCfunc;
typedef void (*ASMFunction)(void);
typedef $code MCode;

typedef union __attribute__((aligned(8))) TValue {
	uint64_t u64;
	double n;
	struct { union { uint32_t gcr32; int32_t i; }; uint32_t it; };
} TValue;

typedef struct SBuf { $buffer } SBuf;
typedef struct GChead {
	GCRef nextgc; uint8_t marked, gct, unused1, unused2;
	GCRef env, gclist, metatable;
} GChead;
]]

local THREAD = [[
struct lua_State {
	GCRef nextgc; uint8_t marked, gct, dummy_ffid, status;
	MRef glref;
	GCRef gclist;
	TValue *base, *top;
	MRef maxstack, stack;
	GCRef openupval, env;
	void *cframe;
	MSize stacksize;
	$exdata
};
]]

local OBJECTS = [[
typedef struct GCstr {
	GCRef nextgc; uint8_t marked, gct, reserved, $hashalg;
	$sid
	StrHash hash;
	MSize len;
} GCstr;
typedef struct GCudata {
	GCRef nextgc; uint8_t marked, gct, udtype, unused2;
	GCRef env;
	MSize len;
	GCRef metatable;
	uint32_t align1;
} GCudata;
typedef struct GCcdata { GCRef nextgc; uint8_t marked, gct; uint16_t ctypeid; } GCcdata;
typedef struct GCcdataVar { uint16_t offset, extra; MSize len; } GCcdataVar;
struct GCproto {
	GCRef nextgc; uint8_t marked, gct, numparams, framesize;
	MSize sizebc;
	$pad64
	GCRef gclist;
	MRef k, uv;
	MSize sizekgc, sizekn, sizept;
	uint8_t sizeuv, flags;
	uint16_t trace;
	GCRef chunkname;
	BCLine firstline, numline;
	MRef lineinfo, uvinfo, varinfo;
};
typedef struct GCupval {
	GCRef nextgc; uint8_t marked, gct, closed, immutable;
	union { TValue tv; struct { GCRef prev, next; }; };
	MRef v;
	uint32_t dhash;
} GCupval;
typedef struct GCfuncC {
	GCRef nextgc; uint8_t marked, gct, ffid, nupvalues;
	GCRef env, gclist;
	MRef pc;
	int (*f)(lua_State *);
	TValue upvalue[1];
} GCfuncC;
typedef struct GCfuncL {
	GCRef nextgc; uint8_t marked, gct, ffid, nupvalues;
	GCRef env, gclist;
	MRef pc;
	GCRef uvptr[1];
} GCfuncL;
union GCfunc { GCfuncC c; GCfuncL l; };
typedef struct Node { TValue val, key; MRef next; $node_freetop } Node;
struct GCtab {
	GCRef nextgc; uint8_t marked, gct, nomm; int8_t colo;
	MRef array;
	GCRef gclist, metatable;
	MRef node;
	uint32_t asize, hmask;
	$table_freetop
};
$buffer_object
]]

local STATE = [[
typedef struct GCState {
	GCSize total, threshold;
	uint8_t currentwhite, state, nocdatafin, lightudnum;
	MSize sweepstr;
	GCRef root;
	MRef sweep;
	GCRef gray, grayagain, weak, mmudata;
	GCSize debt, estimate;
	MSize stepmul, pause;
	$segments
} GCState;
typedef struct StrInternState {
	GCRef *tab;
	MSize mask, num;
	StrID id;
	uint8_t idreseed, second, unused1, unused2;
	uint64_t seed __attribute__((aligned(8)));
} StrInternState;
typedef struct PRNGState { uint64_t u[4]; } PRNGState;
struct global_State {
	$strings_first
	void *(*allocf)(void *, void *, size_t, size_t);
	void *allocd;
	GCState gc;
	$state_and_buffer_first
	GCstr strempty;
	uint8_t stremptyz, hookmask, dispatchmode, vmevmask;
	$strings_later
	GCRef mainthref;
	$registry_first
	$buffer_later
	TValue tmptv, tmptv2;
	Node nilnode;
	$registry_later
	GCupval uvhead;
	int32_t hookcount, hookcstart;
	void (*hookf)(void);
	int (*wrapf)(lua_State *);
	int (*panic)(lua_State *);
	BCIns bc_cfunc_int, bc_cfunc_ext;
	GCRef cur_L;
	MRef jit_base, ctype_state;
	$prng
	GCRef gcroot[$gcroots];
	$saved_base
};
]]

local CTYPES = [[
typedef struct CType { uint32_t info, size; CTypeID1 sib, next; GCRef name; } CType;
typedef struct __attribute__((aligned(8))) CCallback {
	double fpr[$callback_fpr];
	intptr_t gpr[$callback_gpr];
	intptr_t *stack;
	void *mcode;
	CTypeID1 *cbid;
	MSize sizeid, topid, slot;
} CCallback;
typedef struct CTState {
	CType *tab;
	uint32_t top;
	MSize sizetab;
	lua_State *L;
	global_State *g;
	$finalizer
	GCtab *miscmap;
	CCallback cb;
	CTypeID1 hash[128];
} CTState;
]]

local TRACES = [[
typedef struct IRType1 { uint8_t irt; } IRType1;
typedef union IRIns {
	struct { IRRef1 op1, op2; uint16_t ot; IRRef1 prev; };
	struct { uint32_t op12; IRType1 t; uint8_t o, r, s; };
	int32_t i;
	GCRef gcr;
	MRef ptr;
	TValue tv;
} IRIns;
typedef struct SnapShot { $snapshot } SnapShot;
typedef struct GCtrace {
	GCRef nextgc; uint8_t marked, gct;
	$trace_head
	IRRef nins;
	$pad64
	GCRef gclist;
	IRIns *ir;
	IRRef nk;
	$trace_snaps
	SnapShot *snap;
	SnapEntry *snapmap;
	GCRef startpt;
	MRef startpc;
	BCIns startins;
	MSize szmcode;
	MCode *mcode;
	MSize mcloop;
	uint16_t nchild, spadjust;
	TraceNo1 traceno, link, root, nextroot, nextside;
	uint8_t sinktags;
	$trace_tail
} GCtrace;
]]

local JIT = [[
typedef enum { LJ_TRACE_IDLE, LJ_TRACE_ACTIVE = 0x10, LJ_TRACE_RECORD$states } TraceState;
typedef struct HotPenalty { MRef pc; uint16_t val, reason; } HotPenalty;
typedef struct BPropEntry { IRRef1 key, val; IRRef mode; } BPropEntry;
typedef struct ScEvEntry { MRef pc; IRRef1 idx, start, stop, step; uint8_t t, dir; } ScEvEntry;
typedef struct jit_State {
	GCtrace cur;
	GCtrace *curfinal;
	lua_State *L;
	const BCIns *pc;
	GCfunc *fn;
	GCproto *pt;
	TRef *base;
	uint32_t flags;
	BCReg maxslot, baseslot;
	uint8_t mergesnap, needsnap, guardemit, bcskip;
	struct { IRIns ins, left[2], right[2]; } fold;
	const BCIns *bc_min;
	MSize bc_extent;
	TraceState state;
	int32_t instunroll, loopunroll, tailcalled, framedepth, retdepth;
	$constants
	IRIns *irbuf;
	IRRef irtoplim, irbotlim, loopref;
	MSize sizesnap;
	SnapShot *snapbuf;
	SnapEntry *snapmapbuf;
	MSize sizesnapmap;
	int32_t postproc;
	$needsplit
	uint8_t retryrec;
	GCRef *trace;
	uint32_t freetrace;
	MSize sizetrace;
	IRRef1 ktrace;
	IRRef1 chain[$chain];
	TRef slot[$slots];
	int32_t param[15];
	MCode *exitstubgroup[16];
	HotPenalty penalty[64];
	uint32_t penaltyslot;
	$prngstate
	BPropEntry bpropcache[16];
	uint32_t bpropslot;
	ScEvEntry scev;
	const BCIns *startpc;
	uint32_t parent, exitno;
	$exitcode
	BCIns *patchpc;
	BCIns patchins;
	int32_t mcprot;
	MCode *mcarea, *mctop, *mcbot;
	size_t szmcarea, szallmcarea;
	TValue errinfo;
	GCproto *prev_pt;
	BCLine prev_line;
	int32_t prof_mode;
	$jit_prng
} jit_State;
]]

local ALL = [[
typedef struct GG_State {
	lua_State L;
	global_State g;
	$jit
	ASMFunction dispatch[$dispatch];
	BCIns bcff[$bcff];
} GG_State;
]]

local STRINGS_OLD = "GCRef *strhash; MSize strmask, strnum;"
local TRACE_ENDS = "uint8_t topslot, linktype, unused1;"

-- The substitutions in the texts. `b` is the build: see guess.lua.
local function places(b)
	local function when(condition, text, other)
		return condition and text or other or ""
	end
	return {
		word = when(b.gc64, "uint64_t", "uint32_t"), mref = when(b.gc64, "ptr64", "ptr32"), ref = when(b.gc64, "gcptr64", "gcptr32"),
		code = when(b.x86, "uint8_t", "uint32_t"),
		buffer = when(b.text_buffers, "char *w, *e, *b; MRef L;", "MRef p, e, b, L;"),
		buffer_object = when(b.text_buffers, "typedef struct SBufExt { char *w, *e, *b; MRef L; union { GCRef cowref; MRef bsb; }; char *r; "
			.. "GCRef dict_str, dict_mt; int32_t depth; } SBufExt;"),
		exdata = b.extra > 0 and "void *exdata" .. when(b.extra > 1, ", *exdata2") .. ";" or "",
		hashalg = when(b.interned, "hashalg", "unused"), sid = when(b.interned, "StrID sid;"),
		pad64 = when(b.gc64, "uint32_t unused_gc64;"),
		node_freetop = when(not b.gc64, "MRef freetop;"), table_freetop = when(b.gc64, "MRef freetop;"),
		segments = when(b.segments, "MRef lightudseg;"),
		strings_first = when(not b.interned, STRINGS_OLD),
		state_and_buffer_first = when(not b.interned, "int32_t vmstate; SBuf tmpbuf;"),
		strings_later = when(b.interned, "StrInternState str; int32_t vmstate;"),
		registry_first = when(b.registry_first, "TValue registrytv;"), registry_later = when(not b.registry_first, "TValue registrytv;"),
		buffer_later = when(b.interned, "SBuf tmpbuf;"), prng = when(b.interned, "PRNGState prng;"),
		gcroots = b.gcroots, saved_base = when(b.saved_base, "MRef saved_jit_base;"),
		callback_fpr = b.callback_fpr or 8, callback_gpr = 8, finalizer = when(not b.finalizer_root, "GCtab *finalizer;"),
		snapshot = when(b.early_traces, "uint16_t mapofs; IRRef1 ref; uint8_t nslots, topslot, nent, count;",
			"uint32_t mapofs; IRRef1 ref; uint16_t mcofs; uint8_t nslots, topslot, nent, count;"),
		trace_head = when(b.early_traces, "uint8_t topslot, linktype;", "uint16_t nsnap;"),
		trace_snaps = when(b.early_traces, "uint16_t nsnap, nsnapmap;", "uint32_t nsnapmap;"),
		trace_tail = when(b.early_traces, "uint8_t unused1;", TRACE_ENDS),
		states = when(b.early_traces, ", LJ_TRACE_START, LJ_TRACE_END, LJ_TRACE_ASM, LJ_TRACE_ERR",
			", LJ_TRACE_RECORD_1ST, LJ_TRACE_START, LJ_TRACE_END, LJ_TRACE_ASM, LJ_TRACE_ERR"),
		constants = when(not b.x86, "TValue ksimd[5];", when(b.early_traces, "TValue ksimd[5], k64[3]; uint32_t k32[1];",
			"uint32_t k32[1]; TValue ksimd[5], k64[3];")),
		needsplit = when(b.pointer_size == 4, "uint8_t needsplit;"), chain = b.chain or 101, slots = b.slots or b.gc64 and 257 or 255,
		prngstate = when(not b.interned, "uint32_t prngstate;"), exitcode = when(b.exitcode, "int32_t exitcode;"),
		jit_prng = when(b.jit_prng, "PRNGState prng;"),
		jit = when(b.jit, "jit_State J; uint16_t hotcount[64];"), dispatch = b.dispatch or 1, bcff = b.bcff or 1,
	}
end

local function text(parts, build)
	local values = places(build)
	return (
		table.concat(parts, "\n"):gsub("%$([%w_]+)", function(name) return tostring(assert(values[name], name)) end)
	)
end

-- Only a main thread; everything up to the state; everything.
function cdef.thread(build) return text({ HEAD, THREAD }, build) end
function cdef.state(build) return text({ HEAD, THREAD, OBJECTS, STATE, CTYPES, TRACES }, build) end
function cdef.all(build) return text({ HEAD, THREAD, OBJECTS, STATE, CTYPES, TRACES, JIT, ALL }, build) end

return cdef
