-- The names of LuaJIT's enumerators for programs without debug information, for a build that guess.lua determined.
--
-- Taken from lj_bc.h, lj_ffdef.h, lj_ir.h, lj_ircall.h, lj_jit.h, lj_traceerr.h and lj_obj.h of LuaJIT 2.1.0-beta3
-- (2017-05), 2.1 of 2022-03 and OpenResty's luajit2 of 2023-01. A name with /e exists only in 2017, one with /n in
-- later releases, one with /o in OpenResty's branch. Between 2017 and 2021 some changed one after the other, so a
-- build of that time has numbers instead; a name that memory contradicts is also dropped.
local xcore = require "xcore"

local enums = {}

local LISTS = {
	BC = [[
		ISLT ISGE ISLE ISGT ISEQV ISNEV ISEQS ISNES ISEQN ISNEN ISEQP ISNEP ISTC ISFC IST ISF ISTYPE ISNUM MOV NOT UNM LEN ADDVN
		SUBVN MULVN DIVVN MODVN ADDNV SUBNV MULNV DIVNV MODNV ADDVV SUBVV MULVV DIVVV MODVV POW CAT KSTR KCDATA KSHORT KNUM KPRI KNIL
		UGET USETV USETS USETN USETP UCLO FNEW TNEW TDUP GGET GSET TGETV TGETS TGETB TGETR TSETV TSETS TSETB TSETM TSETR CALLM CALL
		CALLMT CALLT ITERC ITERN VARG ISNEXT RETM RET RET0 RET1 FORI JFORI FORL IFORL JFORL ITERL IITERL JITERL LOOP ILOOP JLOOP JMP
		FUNCF IFUNCF JFUNCF FUNCV IFUNCV JFUNCV FUNCC FUNCCW
]],
	FF = [[
		LUA_ C_ assert type next pairs ipairs_aux ipairs getmetatable setmetatable getfenv setfenv rawget rawset rawequal unpack
		select tonumber tostring error pcall xpcall loadfile load loadstring dofile gcinfo collectgarbage newproxy print
		coroutine_status coroutine_running coroutine_isyieldable coroutine_create coroutine_yield coroutine_resume coroutine_wrap_aux
		coroutine_wrap thread_exdata/o thread_exdata2/o math_abs math_floor math_ceil math_sqrt math_log10 math_exp math_sin math_cos
		math_tan math_asin math_acos math_atan math_sinh math_cosh math_tanh math_frexp math_modf math_log math_atan2 math_pow
		math_fmod math_ldexp math_min math_max math_random math_randomseed bit_tobit bit_bnot bit_bswap bit_lshift bit_rshift
		bit_arshift bit_rol bit_ror bit_band bit_bor bit_bxor bit_tohex string_byte string_char string_sub string_rep string_reverse
		string_lower string_upper string_dump string_find string_match string_gmatch_aux string_gmatch string_gsub string_format
		table_maxn table_insert table_concat table_clone/o table_isarray/o table_nkeys/o table_isempty/o table_sort table_new
		table_clear io_method_close io_method_read io_method_write io_method_flush io_method_seek io_method_setvbuf io_method_lines
		io_method___gc io_method___tostring io_open io_popen io_tmpfile io_close io_read io_write io_flush io_input io_output
		io_lines io_type os_execute os_remove os_rename os_tmpname os_getenv os_exit os_clock os_date os_time os_difftime
		os_setlocale debug_getregistry debug_getmetatable debug_setmetatable debug_getfenv debug_setfenv debug_getinfo debug_getlocal
		debug_setlocal debug_getupvalue debug_setupvalue debug_upvalueid debug_upvaluejoin debug_sethook debug_gethook debug_debug
		debug_traceback jit_on jit_off jit_flush jit_status jit_security/n jit_attach jit_prngstate/o jit_util_funcinfo
		jit_util_funcbc jit_util_funck jit_util_funcuvname jit_util_traceinfo jit_util_traceir jit_util_tracek jit_util_tracesnap
		jit_util_tracemc jit_util_traceexitstub jit_util_ircalladdr jit_opt_start jit_profile_start jit_profile_stop
		jit_profile_dumpstack ffi_meta___index ffi_meta___newindex ffi_meta___eq ffi_meta___len ffi_meta___lt ffi_meta___le
		ffi_meta___concat ffi_meta___call ffi_meta___add ffi_meta___sub ffi_meta___mul ffi_meta___div ffi_meta___mod ffi_meta___pow
		ffi_meta___unm ffi_meta___tostring ffi_meta___pairs ffi_meta___ipairs ffi_clib___index ffi_clib___newindex ffi_clib___gc
		ffi_callback_free ffi_callback_set ffi_cdef ffi_new ffi_cast ffi_typeof ffi_typeinfo ffi_istype ffi_sizeof ffi_alignof
		ffi_offsetof ffi_errno ffi_string ffi_copy ffi_fill ffi_abi ffi_metatype ffi_gc ffi_load buffer_method_free/n
		buffer_method_reset/n buffer_method_skip/n buffer_method_set/n buffer_method_put/n buffer_method_putf/n buffer_method_get/n
		buffer_method_putcdata/n buffer_method_reserve/n buffer_method_commit/n buffer_method_ref/n buffer_method_encode/n
		buffer_method_decode/n buffer_method___gc/n buffer_method___tostring/n buffer_method___len/n buffer_new/n buffer_encode/n
		buffer_decode/n
]],
	IR = [[
		LT GE LE GT ULT UGE ULE UGT EQ NE ABC RETF NOP BASE PVAL GCSTEP HIOP LOOP USE PHI RENAME PROF KPRI KINT KGC KPTR KKPTR KNULL
		KNUM KINT64 KSLOT BNOT BSWAP BAND BOR BXOR BSHL BSHR BSAR BROL BROR ADD SUB MUL DIV MOD POW NEG ABS ATAN2/e LDEXP MIN MAX
		FPMATH ADDOV SUBOV MULOV AREF HREFK HREF NEWREF UREFO UREFC FREF TMPREF/n STRREF LREF ALOAD HLOAD ULOAD FLOAD XLOAD SLOAD
		VLOAD ALEN/n ASTORE HSTORE USTORE FSTORE XSTORE SNEW XSNEW TNEW TDUP CNEW CNEWI BUFHDR BUFPUT BUFSTR TBAR OBAR XBAR CONV
		TOBIT TOSTR STRTO CALLN CALLA CALLL CALLS CALLXS CARG
]],
	IRFPM = [[
		FLOOR CEIL TRUNC SQRT EXP/e EXP2/e LOG LOG2 LOG10/e SIN/e COS/e TAN/e OTHER
]],
	IRFL = [[
		STR_LEN FUNC_ENV FUNC_PC FUNC_FFID THREAD_ENV THREAD_EXDATA/o THREAD_EXDATA2/o TAB_META TAB_ARRAY TAB_NODE TAB_ASIZE
		TAB_HMASK TAB_NOMM UDATA_META UDATA_UDTYPE UDATA_FILE SBUF_W/n SBUF_E/n SBUF_B/n SBUF_L/n SBUF_REF/n SBUF_R/n CDATA_CTYPEID
		CDATA_PTR CDATA_INT CDATA_INT64 CDATA_INT64_4
]],
	IRCALL = [[
		lj_str_cmp lj_str_find lj_str_new lj_strscan_num lj_strfmt_int lj_strfmt_num lj_strfmt_char lj_strfmt_putint lj_strfmt_putnum
		lj_strfmt_putquoted lj_strfmt_putfxint lj_strfmt_putfnum_int lj_strfmt_putfnum_uint lj_strfmt_putfnum lj_strfmt_putfstr
		lj_strfmt_putfchar lj_buf_putmem lj_buf_putstr lj_buf_putchar lj_buf_putstr_reverse lj_buf_putstr_lower lj_buf_putstr_upper
		lj_buf_putstr_rep lj_buf_puttab lj_bufx_set/n lj_bufx_more/n lj_serialize_put/n lj_serialize_get/n lj_serialize_encode/n
		lj_serialize_decode/n lj_buf_tostr lj_tab_new_ah lj_tab_new1 lj_tab_dup lj_tab_clear lj_tab_newkey lj_tab_keyindex/n
		lj_vm_next/n lj_tab_len lj_tab_clone/o lj_tab_isarray/o lj_tab_nkeys/o lj_tab_isempty/o lj_tab_len_hint/n lj_gc_step_jit
		lj_gc_barrieruv lj_mem_newgco lj_math_random_step/e lj_prng_u64d/n lj_vm_modi log10/n exp/n sin/n cos/n tan/n asin/n acos/n
		atan/n sinh cosh tanh fputc fwrite fflush lj_vm_floor lj_vm_ceil lj_vm_trunc sqrt exp/e lj_vm_exp2/e log lj_vm_log2 log10/e
		sin/e cos/e tan/e lj_vm_powi/e pow atan2 ldexp lj_vm_tobit softfp_add softfp_sub softfp_mul softfp_div softfp_cmp softfp_i2d
		softfp_d2i lj_vm_sfmin lj_vm_sfmax lj_vm_tointg/n softfp_ui2d softfp_f2d softfp_d2ui softfp_d2f softfp_i2f softfp_ui2f
		softfp_f2i softfp_f2ui fp64_l2d fp64_ul2d fp64_l2f fp64_ul2f fp64_d2l fp64_d2ul fp64_f2l fp64_f2ul lj_carith_divi64
		lj_carith_divu64 lj_carith_modi64 lj_carith_modu64 lj_carith_powi64 lj_carith_powu64 lj_cdata_newv lj_cdata_setfin strlen
		memcpy memset lj_vm_errno lj_carith_mul64 lj_carith_shl64 lj_carith_shr64 lj_carith_sar64 lj_carith_rol64 lj_carith_ror64
]],
	JIT_P = [[
		maxtrace maxrecord maxirconst maxside maxsnap minstitch hotloop hotexit tryside instunroll loopunroll callunroll recunroll
		sizemcode maxmcode
]],
	LJ_TRLINK = [[
		NONE ROOT LOOP TAILREC UPREC DOWNREC INTERP RETURN STITCH
]],
	LJ_TRERR = [[
		RECERR TRACEUV TRACEOV STACKOV SNAPOV BLACKL RETRY NYIBC LLEAVE LINNER LUNROLL BADTYPE CJITOFF CUNROLL DOWNREC NYIFFU NYIRETL
		STORENN NOMM IDXLOOP NYITMIX NOCACHE NYICONV NYICALL GFAIL PHIOV TYPEINS MCODEAL MCODEOV MCODELM SPILLOV BADRA NYIIR NYIPHI
		NYICOAL
]],
	LJ_VMST = [[
		INTERP C GC EXIT RECORD OPT ASM
]],
	UDTYPE = [[
		USERDATA IO_FILE FFI_CLIB BUFFER/n
]],
	IRT = [[
		NIL FALSE TRUE LIGHTUD STR P32 THREAD PROTO FUNC P64 CDATA TAB UDATA FLOAT NUM I8 U8 I16 U16 INT U32 I64 U64 SOFTFP
]],
}

-- Numbers that are not counted from 0 without gaps.
local TRACE_STATES = { "RECORD", "RECORD_1ST", "START", "END", "ASM", "ERR" }
local METATABLES, FILES = 14, 2

local SURE = { BC = true, IRT = true, JIT_P = true, LJ_TRLINK = true, LJ_VMST = true, UDTYPE = true } -- the same in all builds that have them

local function era(build)
	if not build.interned then return "e" end
	if not build.text_buffers then return nil end
	return build.extra > 0 and "o" or "n"
end

-- The marks of names that exist in an era.
local HAS = { e = { e = true }, n = { n = true }, o = { n = true, o = true } }

local function counted(prefix, build)
	local marks, names, next = HAS[era(build)], {}, 0
	if not marks and not SURE[prefix] then return names end
	marks = marks or HAS.n
	for word in LISTS[prefix]:gmatch "%S+" do
		local name, mark = word:match "^([^/]+)/?(%a?)$"
		if mark == "" or marks[mark] then
			names[next] = name
			next = next + 1
		end
	end
	return names
end

-- The collector's roots: names of metamethods, basic metatables, default files, and later additions.
local function roots(build)
	local metamethods = build.gcroots - METATABLES - FILES - (build.finalizer_root and 1 or 0)
	local names = {
		[0] = "MMNAME",
		[metamethods] = "BASEMT",
		[metamethods + METATABLES] = "IO_INPUT",
		[metamethods + METATABLES + 1] = "IO_OUTPUT",
	}
	if build.finalizer_root then names[metamethods + METATABLES + FILES] = "FFI_FIN" end
	return names
end

local function trace_states(build)
	local names, number = { [0] = "IDLE", [0x10] = "ACTIVE" }, 0x10
	for _, name in ipairs(TRACE_STATES) do
		if name ~= "RECORD_1ST" or build.interned then
			number = number + 1
			names[number] = name
		end
	end
	return names
end

-- ---- verification: libraries hold fast functions under their names. ----

local function vote(vm, names, tab, prefix, deeper)
	local tvalue = require "luajit.tvalue"
	local right, wrong = 0, 0
	if tab.hmask == 0 or tab.hmask > 4095 then return right, wrong end
	local nodes = xcore.columns(xcore.cast(tab.node[vm.layout.mref], "Node *"), tab.hmask + 1, { "key.u64", "val.u64" })
	for i, bits in ipairs(nodes["val.u64"]) do
		local key_tag, key = tvalue.decode(vm, nodes["key.u64"][i])
		local tag, value = tvalue.decode(vm, bits)
		local name = key_tag == 4 and tag ~= 0 and prefix .. vm:string(key, 40)
		if name and tag == 8 then
			local ffid = vm.t:value("GCfuncC", value).ffid
			if ffid > 1 and names[ffid] == name then right = right + 1 elseif ffid > 1 then wrong = wrong + 1 end
		elseif name and tag == 11 and deeper and name ~= "_G" then
			local more, less = vote(vm, names, vm.t:value("GCtab", value), name .. "_", false)
			right, wrong = right + more, wrong + less
		end
	end
	return right, wrong
end

-- Most must be at the expected position; a program may have moved some.
local function voted(vm, names)
	local ok, right, wrong = pcall(
		function() return vote(vm, names, vm.t:value("GCtab", vm.main.env[vm.layout.ref]), "", true) end
	)
	return ok and right >= 10 and wrong * 10 <= right
end

-- ---- all together ----

-- Names by number of the enum with prefix `prefix` ("IR_"); empty if they are unknown.
function enums.names(vm, prefix)
	local build = vm.layout.build
	prefix = prefix:gsub("_$", "")
	if prefix == "GCROOT" then return roots(build) end
	if prefix == "LJ_TRACE" then return trace_states(build) end
	local names = LISTS[prefix] and counted(prefix, build) or {}
	if prefix == "FF" and next(names) and not voted(vm, names) then return {} end
	if prefix == "BC" and #names + 1 ~= build.opcodes then return {} end
	return names
end

return enums
