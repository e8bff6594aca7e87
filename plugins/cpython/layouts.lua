-- Layouts of CPython 3.9 to 3.13 without debug information, made by corpora/python/merge-layouts of builds that have it
-- (Debian's, x86-64). Each declaration stands after the releases that have it, in the order in which declarations use
-- each other.
local layouts = {}

local parts = {
	{ releases = { 9, 10, 11, 12, 13 }, [[
typedef struct _of_PyObject PyObject;
typedef struct _of_PyVarObject PyVarObject;
typedef struct _of_PyGC_Head PyGC_Head;
]] },
	{ releases = { 9, 10, 11, 12 }, [[
typedef struct _of__Py_atomic_address _Py_atomic_address;
typedef struct _of__Py_atomic_int _Py_atomic_int;
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
typedef struct _of_PyInterpreterState PyInterpreterState;
typedef struct _of__PyErr_StackItem _PyErr_StackItem;
]] },
	{ releases = { 11, 12 }, [[
typedef struct _of__PyCFrame _PyCFrame;
]] },
	{ releases = { 11, 12, 13 }, [[
typedef struct _of__PyInterpreterFrame _PyInterpreterFrame;
]] },
	{ releases = { 10 }, [[
typedef struct _of_CFrame CFrame;
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
typedef struct _of_PyThreadState PyThreadState;
typedef struct _of__PyRuntimeState _PyRuntimeState;
typedef struct _of_PyTypeObject PyTypeObject;
typedef struct _of_PyHeapTypeObject PyHeapTypeObject;
typedef struct _of_PyCodeObject PyCodeObject;
typedef struct _of_PyFrameObject PyFrameObject;
typedef struct _of_PyFunctionObject PyFunctionObject;
typedef struct _of_PyMethodObject PyMethodObject;
typedef struct _of_PyCellObject PyCellObject;
typedef struct _of_PyGenObject PyGenObject;
typedef struct _of_PyWeakReference PyWeakReference;
typedef struct _of_PyBaseExceptionObject PyBaseExceptionObject;
typedef struct _of_PyListObject PyListObject;
typedef struct _of_PyTupleObject PyTupleObject;
typedef struct _of_PyBytesObject PyBytesObject;
]] },
	{ releases = { 12, 13 }, [[
typedef struct _of__PyLongValue _PyLongValue;
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
typedef struct _of_PyLongObject PyLongObject;
typedef struct _of_PyASCIIObject PyASCIIObject;
typedef struct _of_PyCompactUnicodeObject PyCompactUnicodeObject;
typedef struct _of_PyUnicodeObject PyUnicodeObject;
typedef struct _of_dequeobject dequeobject;
typedef struct _of_setentry setentry;
typedef struct _of_PySetObject PySetObject;
typedef struct _of_PyDictKeyEntry PyDictKeyEntry;
]] },
	{ releases = { 11, 12, 13 }, [[
typedef struct _of_PyDictUnicodeEntry PyDictUnicodeEntry;
typedef struct _of_PyDictValues PyDictValues;
]] },
	{ releases = { 12 }, [[
typedef struct _of_PyDictOrValues PyDictOrValues;
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
typedef struct _of_PyDictKeysObject PyDictKeysObject;
typedef struct _of_PyDictObject PyDictObject;
typedef unsigned int digit;
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyObject {
	long ob_refcnt;
	PyTypeObject *ob_type;
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyObject {
	char _1[8];
	PyTypeObject *ob_type;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct _of_PyVarObject {
	PyObject ob_base;
	long ob_size;
} __attribute__((packed));
struct _of_PyGC_Head {
	unsigned long _gc_next;
	unsigned long _gc_prev;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12 }, [[
struct _of__Py_atomic_address {
	unsigned long _value;
} __attribute__((packed));
struct _of__Py_atomic_int {
	int _value;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct gc_generation {
	PyGC_Head head;
	int threshold;
	int count;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12 }, [[
struct _gc_runtime_state {
	char _1[12];
	int enabled;
	char _2[8];
	struct gc_generation generations[3];
	char _3[8];
	struct gc_generation permanent_generation;
	char _4[72];
	int collecting;
	char _5[36];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _gc_runtime_state {
	char _1[12];
	int enabled;
	char _2[4];
	struct gc_generation generations[3];
	char _3[12];
	struct gc_generation permanent_generation;
	char _4[72];
	int collecting;
	char _5[36];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct pyinterpreters {
	char _1[8];
	PyInterpreterState *head;
	char _2[16];
} __attribute__((packed));
]] },
	{ releases = { 11, 12 }, [[
struct pythreads {
	char _1[8];
	PyThreadState *head;
	char _2[16];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct pythreads {
	char _1[8];
	PyThreadState *head;
	char _2[24];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12 }, [[
struct _gil_runtime_state {
	unsigned long interval;
	_Py_atomic_address last_holder;
	_Py_atomic_int locked;
	char _1[4];
	unsigned long switch_number;
	char _2[176];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _gil_runtime_state {
	unsigned long interval;
	PyThreadState *last_holder;
	int locked;
	char _1[4];
	unsigned long switch_number;
	char _2[176];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _ceval_runtime_state {
	char _1[8];
	struct _gil_runtime_state gil;
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _ceval_runtime_state {
	char _1[616];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _ceval_runtime_state {
	char _1[7320];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _ceval_state {
	char _1[552];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _ceval_state {
	char _1[16];
	struct _gil_runtime_state *gil;
	char _2[552];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _ceval_state {
	char _1[16];
	struct _gil_runtime_state *gil;
	char _2[7240];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _import_state {
	PyObject *modules;
	char _1[88];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyInterpreterState {
	PyInterpreterState *next;
	PyThreadState *tstate_head;
	_PyRuntimeState *runtime;
	long id;
	char _1[32];
	struct _ceval_state ceval;
	struct _gc_runtime_state gc;
	PyObject *modules;
	char _2[8];
	PyObject *sysdict;
	PyObject *builtins;
	char _3[4760];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyInterpreterState {
	PyInterpreterState *next;
	PyThreadState *tstate_head;
	_PyRuntimeState *runtime;
	long id;
	char _1[32];
	struct _ceval_state ceval;
	struct _gc_runtime_state gc;
	PyObject *modules;
	char _2[8];
	PyObject *sysdict;
	PyObject *builtins;
	char _3[112640];
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyInterpreterState {
	PyInterpreterState *next;
	struct pythreads threads;
	_PyRuntimeState *runtime;
	long id;
	char _1[40];
	struct _ceval_state ceval;
	struct _gc_runtime_state gc;
	PyObject *modules;
	char _2[8];
	PyObject *sysdict;
	PyObject *builtins;
	char _3[106832];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyInterpreterState {
	PyInterpreterState *next;
	long id;
	char _1[48];
	struct pythreads threads;
	_PyRuntimeState *runtime;
	char _2[8];
	struct _gc_runtime_state gc;
	PyObject *sysdict;
	PyObject *builtins;
	struct _ceval_state ceval;
	struct _import_state imports;
	char _3[382512];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyInterpreterState {
	struct _ceval_state ceval;
	PyInterpreterState *next;
	long id;
	char _1[56];
	struct pythreads threads;
	_PyRuntimeState *runtime;
	char _2[16];
	struct _gc_runtime_state gc;
	PyObject *sysdict;
	PyObject *builtins;
	struct _import_state imports;
	char _3[187224];
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of__PyErr_StackItem {
	PyObject *exc_type;
	PyObject *exc_value;
	PyObject *exc_traceback;
	_PyErr_StackItem *previous_item;
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of__PyErr_StackItem {
	PyObject *exc_value;
	_PyErr_StackItem *previous_item;
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of__PyCFrame {
	char _1[8];
	_PyInterpreterFrame *current_frame;
	_PyCFrame *previous;
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of__PyCFrame {
	_PyInterpreterFrame *current_frame;
	_PyCFrame *previous;
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of__PyInterpreterFrame {
	PyFunctionObject *f_func;
	PyObject *f_globals;
	PyObject *f_builtins;
	PyObject *f_locals;
	PyCodeObject *f_code;
	PyFrameObject *frame_obj;
	_PyInterpreterFrame *previous;
	void *prev_instr;
	int stacktop;
	_Bool is_entry;
	char owner;
	char _1[2];
	PyObject *localsplus[1];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of__PyInterpreterFrame {
	PyCodeObject *f_code;
	_PyInterpreterFrame *previous;
	PyObject *f_funcobj;
	PyObject *f_globals;
	PyObject *f_builtins;
	PyObject *f_locals;
	PyFrameObject *frame_obj;
	void *prev_instr;
	int stacktop;
	unsigned short return_offset;
	char owner;
	char _1[1];
	PyObject *localsplus[1];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of__PyInterpreterFrame {
	PyObject *f_executable;
	_PyInterpreterFrame *previous;
	PyObject *f_funcobj;
	PyObject *f_globals;
	PyObject *f_builtins;
	PyObject *f_locals;
	PyFrameObject *frame_obj;
	void *instr_ptr;
	int stacktop;
	unsigned short return_offset;
	char owner;
	char _1[1];
	PyObject *localsplus[1];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_CFrame {
	char _1[8];
	CFrame *previous;
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyThreadState {
	char _1[8];
	PyThreadState *next;
	PyInterpreterState *interp;
	PyFrameObject *frame;
	char _2[56];
	PyObject *curexc_type;
	PyObject *curexc_value;
	char _3[40];
	_PyErr_StackItem *exc_info;
	char _4[24];
	unsigned long thread_id;
	char _5[80];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyThreadState {
	char _1[8];
	PyThreadState *next;
	PyInterpreterState *interp;
	PyFrameObject *frame;
	char _2[16];
	CFrame *cframe;
	char _3[32];
	PyObject *curexc_type;
	PyObject *curexc_value;
	char _4[40];
	_PyErr_StackItem *exc_info;
	char _5[24];
	unsigned long thread_id;
	char _6[96];
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyThreadState {
	char _1[8];
	PyThreadState *next;
	PyInterpreterState *interp;
	char _2[32];
	_PyCFrame *cframe;
	char _3[32];
	PyObject *curexc_type;
	PyObject *curexc_value;
	char _4[8];
	_PyErr_StackItem *exc_info;
	char _5[24];
	unsigned long thread_id;
	unsigned long native_thread_id;
	char _6[192];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyThreadState {
	char _1[8];
	PyThreadState *next;
	PyInterpreterState *interp;
	char _2[32];
	_PyCFrame *cframe;
	char _3[32];
	PyObject *current_exception;
	_PyErr_StackItem *exc_info;
	char _4[24];
	unsigned long thread_id;
	unsigned long native_thread_id;
	char _5[136];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyThreadState {
	char _1[8];
	PyThreadState *next;
	PyInterpreterState *interp;
	char _2[48];
	_PyInterpreterFrame *current_frame;
	char _3[32];
	PyObject *current_exception;
	_PyErr_StackItem *exc_info;
	char _4[24];
	unsigned long thread_id;
	unsigned long native_thread_id;
	char _5[136];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of__PyRuntimeState {
	char _1[24];
	struct pyinterpreters interpreters;
	char _2[288];
	struct _ceval_runtime_state ceval;
	char _3[96];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of__PyRuntimeState {
	char _1[24];
	struct pyinterpreters interpreters;
	char _2[288];
	struct _ceval_runtime_state ceval;
	char _3[112];
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of__PyRuntimeState {
	char _1[32];
	struct pyinterpreters interpreters;
	char _2[288];
	struct _ceval_runtime_state ceval;
	char _3[166120];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of__PyRuntimeState {
	char _1[32];
	struct pyinterpreters interpreters;
	char _2[1880];
	struct _ceval_runtime_state ceval;
	char _3[457384];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of__PyRuntimeState {
	char _1[624];
	struct pyinterpreters interpreters;
	char _2[1904];
	struct _ceval_runtime_state ceval;
	char _3[273496];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyTypeObject {
	PyVarObject ob_base;
	char *tp_name;
	long tp_basicsize;
	long tp_itemsize;
	void *tp_dealloc;
	long tp_vectorcall_offset;
	void *tp_getattr;
	void *tp_setattr;
	void *tp_as_async;
	void *tp_repr;
	void *tp_as_number;
	void *tp_as_sequence;
	void *tp_as_mapping;
	void *tp_hash;
	void *tp_call;
	void *tp_str;
	void *tp_getattro;
	void *tp_setattro;
	void *tp_as_buffer;
	unsigned long tp_flags;
	char *tp_doc;
	void *tp_traverse;
	void *tp_clear;
	void *tp_richcompare;
	long tp_weaklistoffset;
	void *tp_iter;
	void *tp_iternext;
	void *tp_methods;
	void *tp_members;
	void *tp_getset;
	PyTypeObject *tp_base;
	PyObject *tp_dict;
	void *tp_descr_get;
	void *tp_descr_set;
	long tp_dictoffset;
	void *tp_init;
	void *tp_alloc;
	void *tp_new;
	void *tp_free;
	void *tp_is_gc;
	PyObject *tp_bases;
	PyObject *tp_mro;
	PyObject *tp_cache;
	PyObject *tp_subclasses;
	PyObject *tp_weaklist;
	void *tp_del;
	unsigned int tp_version_tag;
	char _1[4];
	void *tp_finalize;
	void *tp_vectorcall;
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyTypeObject {
	PyVarObject ob_base;
	char *tp_name;
	long tp_basicsize;
	long tp_itemsize;
	void *tp_dealloc;
	long tp_vectorcall_offset;
	void *tp_getattr;
	void *tp_setattr;
	void *tp_as_async;
	void *tp_repr;
	void *tp_as_number;
	void *tp_as_sequence;
	void *tp_as_mapping;
	void *tp_hash;
	void *tp_call;
	void *tp_str;
	void *tp_getattro;
	void *tp_setattro;
	void *tp_as_buffer;
	unsigned long tp_flags;
	char *tp_doc;
	void *tp_traverse;
	void *tp_clear;
	void *tp_richcompare;
	long tp_weaklistoffset;
	void *tp_iter;
	void *tp_iternext;
	void *tp_methods;
	void *tp_members;
	void *tp_getset;
	PyTypeObject *tp_base;
	PyObject *tp_dict;
	void *tp_descr_get;
	void *tp_descr_set;
	long tp_dictoffset;
	void *tp_init;
	void *tp_alloc;
	void *tp_new;
	void *tp_free;
	void *tp_is_gc;
	PyObject *tp_bases;
	PyObject *tp_mro;
	PyObject *tp_cache;
	void *tp_subclasses;
	PyObject *tp_weaklist;
	void *tp_del;
	unsigned int tp_version_tag;
	char _1[4];
	void *tp_finalize;
	void *tp_vectorcall;
	unsigned char tp_watched;
	char _2[7];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyTypeObject {
	PyVarObject ob_base;
	char *tp_name;
	long tp_basicsize;
	long tp_itemsize;
	void *tp_dealloc;
	long tp_vectorcall_offset;
	void *tp_getattr;
	void *tp_setattr;
	void *tp_as_async;
	void *tp_repr;
	void *tp_as_number;
	void *tp_as_sequence;
	void *tp_as_mapping;
	void *tp_hash;
	void *tp_call;
	void *tp_str;
	void *tp_getattro;
	void *tp_setattro;
	void *tp_as_buffer;
	unsigned long tp_flags;
	char *tp_doc;
	void *tp_traverse;
	void *tp_clear;
	void *tp_richcompare;
	long tp_weaklistoffset;
	void *tp_iter;
	void *tp_iternext;
	void *tp_methods;
	void *tp_members;
	void *tp_getset;
	PyTypeObject *tp_base;
	PyObject *tp_dict;
	void *tp_descr_get;
	void *tp_descr_set;
	long tp_dictoffset;
	void *tp_init;
	void *tp_alloc;
	void *tp_new;
	void *tp_free;
	void *tp_is_gc;
	PyObject *tp_bases;
	PyObject *tp_mro;
	PyObject *tp_cache;
	void *tp_subclasses;
	PyObject *tp_weaklist;
	void *tp_del;
	unsigned int tp_version_tag;
	char _1[4];
	void *tp_finalize;
	void *tp_vectorcall;
	unsigned char tp_watched;
	char _2[1];
	unsigned short tp_versions_used;
	char _3[4];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyHeapTypeObject {
	char _1[856];
	PyObject *ht_qualname;
	PyDictKeysObject *ht_cached_keys;
	char _2[8];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyHeapTypeObject {
	char _1[864];
	PyObject *ht_qualname;
	PyDictKeysObject *ht_cached_keys;
	char _2[8];
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyHeapTypeObject {
	char _1[864];
	PyObject *ht_qualname;
	PyDictKeysObject *ht_cached_keys;
	char _2[24];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyHeapTypeObject {
	char _1[872];
	PyObject *ht_qualname;
	PyDictKeysObject *ht_cached_keys;
	char _2[32];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyHeapTypeObject {
	char _1[872];
	PyObject *ht_qualname;
	PyDictKeysObject *ht_cached_keys;
	char _2[40];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyCodeObject {
	PyObject ob_base;
	int co_argcount;
	int co_posonlyargcount;
	int co_kwonlyargcount;
	int co_nlocals;
	int co_stacksize;
	int co_flags;
	int co_firstlineno;
	char _1[4];
	PyObject *co_code;
	PyObject *co_consts;
	PyObject *co_names;
	PyObject *co_varnames;
	PyObject *co_freevars;
	PyObject *co_cellvars;
	void *co_cell2arg;
	PyObject *co_filename;
	PyObject *co_name;
	PyObject *co_lnotab;
	void *co_zombieframe;
	PyObject *co_weakreflist;
	void *co_extra;
	char *co_opcache_map;
	void *co_opcache;
	int co_opcache_flag;
	unsigned char co_opcache_size;
	char _2[3];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyCodeObject {
	PyObject ob_base;
	int co_argcount;
	int co_posonlyargcount;
	int co_kwonlyargcount;
	int co_nlocals;
	int co_stacksize;
	int co_flags;
	int co_firstlineno;
	char _1[4];
	PyObject *co_code;
	PyObject *co_consts;
	PyObject *co_names;
	PyObject *co_varnames;
	PyObject *co_freevars;
	PyObject *co_cellvars;
	void *co_cell2arg;
	PyObject *co_filename;
	PyObject *co_name;
	PyObject *co_linetable;
	void *co_zombieframe;
	PyObject *co_weakreflist;
	void *co_extra;
	char *co_opcache_map;
	void *co_opcache;
	int co_opcache_flag;
	unsigned char co_opcache_size;
	char _2[3];
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyCodeObject {
	PyVarObject ob_base;
	PyObject *co_consts;
	PyObject *co_names;
	PyObject *co_exceptiontable;
	int co_flags;
	short co_warmup;
	short _co_linearray_entry_size;
	int co_argcount;
	int co_posonlyargcount;
	int co_kwonlyargcount;
	int co_stacksize;
	int co_firstlineno;
	int co_nlocalsplus;
	int co_nlocals;
	int co_nplaincellvars;
	int co_ncellvars;
	int co_nfreevars;
	PyObject *co_localsplusnames;
	PyObject *co_localspluskinds;
	PyObject *co_filename;
	PyObject *co_name;
	PyObject *co_qualname;
	PyObject *co_linetable;
	PyObject *co_weakreflist;
	PyObject *_co_code;
	char *_co_linearray;
	int _co_firsttraceable;
	char _1[4];
	void *co_extra;
	char co_code_adaptive[1];
	char _2[7];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyCodeObject {
	PyVarObject ob_base;
	PyObject *co_consts;
	PyObject *co_names;
	PyObject *co_exceptiontable;
	int co_flags;
	int co_argcount;
	int co_posonlyargcount;
	int co_kwonlyargcount;
	int co_stacksize;
	int co_firstlineno;
	int co_nlocalsplus;
	int co_framesize;
	int co_nlocals;
	int co_ncellvars;
	int co_nfreevars;
	unsigned int co_version;
	PyObject *co_localsplusnames;
	PyObject *co_localspluskinds;
	PyObject *co_filename;
	PyObject *co_name;
	PyObject *co_qualname;
	PyObject *co_linetable;
	PyObject *co_weakreflist;
	void *_co_cached;
	unsigned long _co_instrumentation_version;
	void *_co_monitoring;
	int _co_firsttraceable;
	char _1[4];
	void *co_extra;
	char co_code_adaptive[1];
	char _2[7];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyCodeObject {
	PyVarObject ob_base;
	PyObject *co_consts;
	PyObject *co_names;
	PyObject *co_exceptiontable;
	int co_flags;
	int co_argcount;
	int co_posonlyargcount;
	int co_kwonlyargcount;
	int co_stacksize;
	int co_firstlineno;
	int co_nlocalsplus;
	int co_framesize;
	int co_nlocals;
	int co_ncellvars;
	int co_nfreevars;
	unsigned int co_version;
	PyObject *co_localsplusnames;
	PyObject *co_localspluskinds;
	PyObject *co_filename;
	PyObject *co_name;
	PyObject *co_qualname;
	PyObject *co_linetable;
	PyObject *co_weakreflist;
	void *co_executors;
	void *_co_cached;
	unsigned long _co_instrumentation_version;
	void *_co_monitoring;
	int _co_firsttraceable;
	char _1[4];
	void *co_extra;
	char co_code_adaptive[1];
	char _2[7];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyFrameObject {
	PyVarObject ob_base;
	PyFrameObject *f_back;
	PyCodeObject *f_code;
	PyObject *f_builtins;
	PyObject *f_globals;
	PyObject *f_locals;
	PyObject **f_valuestack;
	PyObject **f_stacktop;
	PyObject *f_trace;
	char f_trace_lines;
	char f_trace_opcodes;
	char _1[6];
	PyObject *f_gen;
	int f_lasti;
	int f_lineno;
	int f_iblock;
	char f_executing;
	char _2[3];
	char f_blockstack[20][12];
	PyObject *f_localsplus[1];
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyFrameObject {
	PyVarObject ob_base;
	PyFrameObject *f_back;
	PyCodeObject *f_code;
	PyObject *f_builtins;
	PyObject *f_globals;
	PyObject *f_locals;
	PyObject **f_valuestack;
	PyObject *f_trace;
	int f_stackdepth;
	char f_trace_lines;
	char f_trace_opcodes;
	char _1[2];
	PyObject *f_gen;
	int f_lasti;
	int f_lineno;
	int f_iblock;
	char f_state;
	char _2[3];
	char f_blockstack[20][12];
	PyObject *f_localsplus[1];
} __attribute__((packed));
]] },
	{ releases = { 11, 12 }, [[
struct _of_PyFrameObject {
	PyObject ob_base;
	PyFrameObject *f_back;
	_PyInterpreterFrame *f_frame;
	PyObject *f_trace;
	int f_lineno;
	char f_trace_lines;
	char f_trace_opcodes;
	char f_fast_as_locals;
	char _1[1];
	PyObject *_f_frame_data[1];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyFrameObject {
	PyObject ob_base;
	PyFrameObject *f_back;
	_PyInterpreterFrame *f_frame;
	PyObject *f_trace;
	int f_lineno;
	char f_trace_lines;
	char f_trace_opcodes;
	char _1[2];
	PyObject *f_extra_locals;
	PyObject *f_locals_cache;
	PyObject *_f_frame_data[1];
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyFunctionObject {
	PyObject ob_base;
	PyObject *func_code;
	PyObject *func_globals;
	PyObject *func_defaults;
	PyObject *func_kwdefaults;
	PyObject *func_closure;
	PyObject *func_doc;
	PyObject *func_name;
	PyObject *func_dict;
	PyObject *func_weakreflist;
	PyObject *func_module;
	PyObject *func_annotations;
	PyObject *func_qualname;
	void *vectorcall;
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyFunctionObject {
	PyObject ob_base;
	PyObject *func_globals;
	PyObject *func_builtins;
	PyObject *func_name;
	PyObject *func_qualname;
	PyObject *func_code;
	PyObject *func_defaults;
	PyObject *func_kwdefaults;
	PyObject *func_closure;
	PyObject *func_doc;
	PyObject *func_dict;
	PyObject *func_weakreflist;
	PyObject *func_module;
	PyObject *func_annotations;
	void *vectorcall;
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyFunctionObject {
	PyObject ob_base;
	PyObject *func_globals;
	PyObject *func_builtins;
	PyObject *func_name;
	PyObject *func_qualname;
	PyObject *func_code;
	PyObject *func_defaults;
	PyObject *func_kwdefaults;
	PyObject *func_closure;
	PyObject *func_doc;
	PyObject *func_dict;
	PyObject *func_weakreflist;
	PyObject *func_module;
	PyObject *func_annotations;
	void *vectorcall;
	unsigned int func_version;
	char _1[4];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyFunctionObject {
	PyObject ob_base;
	PyObject *func_globals;
	PyObject *func_builtins;
	PyObject *func_name;
	PyObject *func_qualname;
	PyObject *func_code;
	PyObject *func_defaults;
	PyObject *func_kwdefaults;
	PyObject *func_closure;
	PyObject *func_doc;
	PyObject *func_dict;
	PyObject *func_weakreflist;
	PyObject *func_module;
	PyObject *func_annotations;
	PyObject *func_typeparams;
	void *vectorcall;
	unsigned int func_version;
	char _1[4];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct _of_PyMethodObject {
	PyObject ob_base;
	PyObject *im_func;
	PyObject *im_self;
	PyObject *im_weakreflist;
	void *vectorcall;
} __attribute__((packed));
struct _of_PyCellObject {
	PyObject ob_base;
	PyObject *ob_ref;
} __attribute__((packed));
]] },
	{ releases = { 9 }, [[
struct _of_PyGenObject {
	PyObject ob_base;
	PyFrameObject *gi_frame;
	char gi_running;
	char _1[7];
	PyObject *gi_code;
	PyObject *gi_weakreflist;
	PyObject *gi_name;
	PyObject *gi_qualname;
	_PyErr_StackItem gi_exc_state;
} __attribute__((packed));
]] },
	{ releases = { 10 }, [[
struct _of_PyGenObject {
	PyObject ob_base;
	PyFrameObject *gi_frame;
	PyObject *gi_code;
	PyObject *gi_weakreflist;
	PyObject *gi_name;
	PyObject *gi_qualname;
	_PyErr_StackItem gi_exc_state;
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
struct _of_PyGenObject {
	PyObject ob_base;
	PyCodeObject *gi_code;
	PyObject *gi_weakreflist;
	PyObject *gi_name;
	PyObject *gi_qualname;
	_PyErr_StackItem gi_exc_state;
	PyObject *gi_origin_or_finalizer;
	char gi_hooks_inited;
	char gi_closed;
	char gi_running_async;
	char gi_frame_state;
	char _1[4];
	PyObject *gi_iframe[1];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyGenObject {
	PyObject ob_base;
	PyObject *gi_weakreflist;
	PyObject *gi_name;
	PyObject *gi_qualname;
	_PyErr_StackItem gi_exc_state;
	PyObject *gi_origin_or_finalizer;
	char gi_hooks_inited;
	char gi_closed;
	char gi_running_async;
	char gi_frame_state;
	char _1[4];
	PyObject *gi_iframe[1];
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of_PyWeakReference {
	PyObject ob_base;
	PyObject *wr_object;
	PyObject *wr_callback;
	long hash;
	PyWeakReference *wr_prev;
	PyWeakReference *wr_next;
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_PyWeakReference {
	PyObject ob_base;
	PyObject *wr_object;
	PyObject *wr_callback;
	long hash;
	PyWeakReference *wr_prev;
	PyWeakReference *wr_next;
	void *vectorcall;
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of_PyBaseExceptionObject {
	PyObject ob_base;
	PyObject *dict;
	PyObject *args;
	PyObject *traceback;
	PyObject *context;
	PyObject *cause;
	char suppress_context;
	char _1[7];
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_PyBaseExceptionObject {
	PyObject ob_base;
	PyObject *dict;
	PyObject *args;
	PyObject *notes;
	PyObject *traceback;
	PyObject *context;
	PyObject *cause;
	char suppress_context;
	char _1[7];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct _of_PyListObject {
	PyVarObject ob_base;
	PyObject **ob_item;
	long allocated;
} __attribute__((packed));
struct _of_PyTupleObject {
	PyVarObject ob_base;
	PyObject *ob_item[1];
} __attribute__((packed));
struct _of_PyBytesObject {
	PyVarObject ob_base;
	long ob_shash;
	char ob_sval[1];
	char _1[7];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of__PyLongValue {
	unsigned long lv_tag;
	digit ob_digit[1];
	char _1[4];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyLongObject {
	PyVarObject ob_base;
	digit ob_digit[1];
	char _1[4];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyLongObject {
	PyObject ob_base;
	_PyLongValue long_value;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyASCIIObject {
	PyObject ob_base;
	long length;
	long hash;
	struct { unsigned interned : 2; unsigned kind : 3; unsigned compact : 1; unsigned ascii : 1; unsigned ready : 1; } state;
	char _1[4];
	void *wstr;
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyASCIIObject {
	PyObject ob_base;
	long length;
	long hash;
	struct { unsigned interned : 2; unsigned kind : 3; unsigned compact : 1; unsigned ascii : 1; unsigned statically_allocated : 1; } state;
	char _1[4];
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyCompactUnicodeObject {
	PyASCIIObject _base;
	long utf8_length;
	char *utf8;
	long wstr_length;
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyCompactUnicodeObject {
	PyASCIIObject _base;
	long utf8_length;
	char *utf8;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11 }, [[
struct _of_PyUnicodeObject {
	char _1[72];
	char data[8];
} __attribute__((packed));
]] },
	{ releases = { 12, 13 }, [[
struct _of_PyUnicodeObject {
	char _1[56];
	char data[8];
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of_dequeobject {
	PyVarObject ob_base;
	void *leftblock;
	void *rightblock;
	long leftindex;
	long rightindex;
	unsigned long state;
	long maxlen;
	PyObject *weakreflist;
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_dequeobject {
	PyVarObject ob_base;
	void *leftblock;
	void *rightblock;
	long leftindex;
	long rightindex;
	unsigned long state;
	long maxlen;
	long numfreeblocks;
	void *freeblocks[16];
	PyObject *weakreflist;
} __attribute__((packed));
]] },
	{ releases = { 9, 10, 11, 12, 13 }, [[
struct _of_setentry {
	PyObject *key;
	long hash;
} __attribute__((packed));
struct _of_PySetObject {
	PyObject ob_base;
	long fill;
	long used;
	long mask;
	setentry *table;
	long hash;
	long finger;
	setentry smalltable[8];
	PyObject *weakreflist;
} __attribute__((packed));
struct _of_PyDictKeyEntry {
	long me_hash;
	PyObject *me_key;
	PyObject *me_value;
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_PyDictUnicodeEntry {
	PyObject *me_key;
	PyObject *me_value;
} __attribute__((packed));
]] },
	{ releases = { 11, 12 }, [[
struct _of_PyDictValues {
	PyObject *values[1];
} __attribute__((packed));
]] },
	{ releases = { 13 }, [[
struct _of_PyDictValues {
	unsigned char capacity;
	unsigned char size;
	unsigned char embedded;
	unsigned char valid;
	char _1[4];
	PyObject *values[1];
} __attribute__((packed));
]] },
	{ releases = { 12 }, [[
struct _of_PyDictOrValues {
	PyObject *dict;
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of_PyDictKeysObject {
	long dk_refcnt;
	long dk_size;
	void *dk_lookup;
	long dk_usable;
	long dk_nentries;
	char dk_indices[];
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_PyDictKeysObject {
	long dk_refcnt;
	unsigned char dk_log2_size;
	unsigned char dk_log2_index_bytes;
	unsigned char dk_kind;
	char _1[1];
	unsigned int dk_version;
	long dk_usable;
	long dk_nentries;
	char dk_indices[];
} __attribute__((packed));
]] },
	{ releases = { 9, 10 }, [[
struct _of_PyDictObject {
	PyObject ob_base;
	long ma_used;
	unsigned long ma_version_tag;
	PyDictKeysObject *ma_keys;
	PyObject **ma_values;
} __attribute__((packed));
]] },
	{ releases = { 11, 12, 13 }, [[
struct _of_PyDictObject {
	PyObject ob_base;
	long ma_used;
	unsigned long ma_version_tag;
	PyDictKeysObject *ma_keys;
	PyDictValues *ma_values;
} __attribute__((packed));
]] },
	{ releases = { 11 }, [[
enum _frameowner {
	FRAME_OWNED_BY_THREAD = 0,
	FRAME_OWNED_BY_GENERATOR = 1,
	FRAME_OWNED_BY_FRAME_OBJECT = 2,
};
]] },
	{ releases = { 12, 13 }, [[
enum _frameowner {
	FRAME_OWNED_BY_THREAD = 0,
	FRAME_OWNED_BY_GENERATOR = 1,
	FRAME_OWNED_BY_FRAME_OBJECT = 2,
	FRAME_OWNED_BY_CSTACK = 3,
};
]] },
}

-- The declarations of CPython 3.`minor`; nil: there are none.
function layouts.of(minor)
	local found = {}
	for _, part in ipairs(parts) do
		for _, release in ipairs(part.releases) do
			if release == minor then found[#found + 1] = part[1] end
		end
	end
	return found[1] and table.concat(found)
end

return layouts
