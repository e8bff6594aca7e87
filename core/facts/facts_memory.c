/* facts_memory: the place of an address, the targets of registers, and memory dumps. */
#include "core/facts/facts.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"

enum { ROW = 16, DUMP_LIMIT = 1 << 20, MAX_MISSING = 100 };

const char *xc_facts_place(const struct xc_process *process, xc_addr addr, char *buf, size_t size)
{
	const struct xc_module *module = xc_process_module(process, addr);
	const struct xc_mapping *mapping = xc_process_mapping(process, addr);
	if (module) {
		xc_addr base = module->bias_known ? module->bias : module->lo;
		snprintf(buf, size, "%s+0x%" PRIx64, module->name ? module->name : "?", addr - base);
	} else if (mapping && mapping->label) {
		snprintf(buf, size, "%s", mapping->label);
	} else if (mapping && mapping->path) {
		snprintf(buf, size, "%s+0x%" PRIx64, mapping->path, mapping->offset + (addr - mapping->lo));
	} else if (mapping || xc_space_find(process->space, addr)) {
		snprintf(buf, size, "[anonymous memory]");
	} else {
		return NULL;
	}
	return buf;
}

/* Registers */

/* As xc_facts_place, but recognises the thread's own stack. */
static const char *register_place(const struct xc_process *process, const struct xc_thread *thread, xc_addr addr,
				  char *buf, size_t size)
{
	uint64_t sp;
	const struct xc_mapping *mapping = xc_process_mapping(process, addr);
	if (mapping && xc_regs_get(&thread->regs, process->arch->sp, &sp) &&
	    mapping == xc_process_mapping(process, sp)) {
		bool above = addr >= sp;
		snprintf(buf, size, "this thread's stack, sp%c0x%" PRIx64, above ? '+' : '-',
			 above ? addr - sp : sp - addr);
		return buf;
	}
	return xc_facts_place(process, addr, buf, size);
}

enum { HALF = 2 * 16 + 1 };

/* 16 bytes as text, which the caller keeps. */
static struct xc_cell half_cell(const uint8_t bytes[16], char hex[HALF])
{
	for (size_t i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	struct xc_cell cell = xc_cell_text(hex);
	cell.secret = true;
	return cell;
}

static void add_vector(struct xc_section *s, const struct xc_thread *thread)
{
	static const struct xc_column columns[] = {
		{"name", "VECTOR", XC_FIELD_TEXT, false},
		{"bytes", "BYTES, LOWEST FIRST", XC_FIELD_TEXT, false},
		{"high", "HIGH HALF (AVX)", XC_FIELD_TEXT, false},
	};
	if (!thread->vector || !thread->vector->xmm_count)
		return;
	unsigned wide = thread->vector->ymm_count;
	struct xc_table *table = xc_section_table(s, "vector", columns, XC_COUNT(columns) - (wide ? 0 : 1));
	for (unsigned i = 0; i < thread->vector->xmm_count && i < XC_COUNT(thread->vector->xmm); i++) {
		char name[16], low[HALF], high[HALF];
		snprintf(name, sizeof name, "v%u", i);
		const struct xc_cell row[] = {xc_cell_text(name), half_cell(thread->vector->xmm[i], low),
					      i < wide ? half_cell(thread->vector->ymm_high[i], high)
						       : xc_cell_null("")};
		xc_table_row(s, table, row);
	}
}

void xc_facts_regs(struct xc_report *report, const struct xc_process *process, const struct xc_thread *thread)
{
	static const struct xc_column columns[] = {
		{"name", "REGISTER", XC_FIELD_TEXT, false},
		{"value", "VALUE", XC_FIELD_ADDRESS, false},
		{"place", "POINTS INTO", XC_FIELD_TEXT, false},
	};
	struct xc_section *s = xc_report_section(report, "regs", "Registers");
	xc_section_integer(s, "tid", "thread", thread->tid);
	if (thread->regs_how)
		xc_section_text(s, "how", "how", thread->regs_how);
	if (!thread->has_regs)
		xc_section_message(s, XC_WARNING, NULL, "registers are not known: %s",
				   thread->why_no_regs ? thread->why_no_regs : "not saved");
	struct xc_table *table = xc_section_table(s, "registers", columns, XC_COUNT(columns));
	char place[256];
	for (int number = 0; number < XC_REG_MAX; number++) {
		const char *name = xc_arch_reg_name(process->arch, number);
		uint64_t value;
		if (!name || !xc_regs_get(&thread->regs, number, &value))
			continue;
		const char *where = register_place(process, thread, value, place, sizeof place);
		const struct xc_cell row[] = {xc_cell_text(name), xc_cell_address(value), xc_cell_text(where)};
		xc_table_row(s, table, row);
	}
	add_vector(s, thread);
}

/* Memory */

struct dump {
	const struct xc_process *process;
	struct xc_text lines, hex;
	xc_addr missing_at;   /* of the open run of missing bytes */
	uint64_t missing_len; /* 0: no run is open */
	enum xc_provenance missing_why;
	struct xc_section *section;
	struct xc_table *missing; /* made with the first run */
};

static void end_missing(struct dump *d)
{
	static const struct xc_column columns[] = {
		{"addr", "MISSING FROM", XC_FIELD_ADDRESS, false},
		{"bytes", "BYTES", XC_FIELD_BYTES, false},
		{"why", "WHY", XC_FIELD_TEXT, false},
	};
	if (!d->missing_len)
		return;
	if (!d->missing)
		d->missing = xc_section_table(d->section, "missing", columns, XC_COUNT(columns));
	const struct xc_cell row[] = {xc_cell_address(d->missing_at), xc_cell_bytes(d->missing_len),
				      xc_cell_text(xc_provenance_text(d->missing_why))};
	if (d->missing->row_count < MAX_MISSING)
		xc_table_row(d->section, d->missing, row);
	d->missing_len = 0;
}

static void note_missing(struct dump *d, xc_addr addr)
{
	const struct xc_segment *segment = xc_space_find(d->process->space, addr);
	enum xc_provenance why = segment ? segment->provenance : XC_UNMAPPED;
	/* A live page that vanished between two reads still has its old provenance. */
	if (why == XC_FROM_CORE || why == XC_FROM_FILE || why == XC_FROM_LIVE)
		why = XC_NOT_PRESENT;
	if (d->missing_len && why != d->missing_why)
		end_missing(d);
	if (!d->missing_len)
		d->missing_at = addr;
	d->missing_why = why;
	d->missing_len++;
}

static void dump_row(struct dump *d, xc_addr addr, size_t len)
{
	uint8_t bytes[ROW];
	bool known[ROW] = {0};
	size_t got = xc_space_peek(d->process->space, addr, bytes, len);
	memset(known, true, got);
	for (size_t i = got; i < len; i++)
		known[i] = xc_space_peek(d->process->space, addr + i, &bytes[i], 1) == 1;
	xc_text_printf(&d->lines, "0x%012" PRIx64 " ", addr);
	for (size_t i = 0; i < ROW; i++) {
		char word[4] = "  ";
		if (i < len)
			snprintf(word, sizeof word, known[i] ? "%02x" : "--", bytes[i]);
		xc_text_printf(&d->lines, i == ROW / 2 ? "  %s" : " %s", word);
		if (i < len)
			xc_text_add(&d->hex, word);
	}
	xc_text_add(&d->lines, "  |");
	for (size_t i = 0; i < len; i++) {
		bool shown = known[i] && bytes[i] >= 0x20 && bytes[i] < 0x7f;
		xc_text_char(&d->lines, shown ? (char)bytes[i] : known[i] ? '.' : ' ');
		if (known[i])
			end_missing(d);
		else
			note_missing(d, addr + i);
	}
	xc_text_add(&d->lines, "|\n");
}

void xc_facts_memory(struct xc_report *report, const struct xc_process *process, xc_addr addr, uint64_t len)
{
	struct dump d = {.process = process, .section = xc_report_section(report, "memory", "Memory")};
	char place[256];
	uint64_t to_end = UINT64_MAX - addr; /* bytes after addr */
	if (len && len - 1 > to_end)
		len = to_end + 1;
	if (len > DUMP_LIMIT) {
		xc_section_message(d.section, XC_WARNING, "ask for the rest in pieces", "only the first MiB is shown");
		len = DUMP_LIMIT;
	}
	xc_section_address(d.section, "addr", "from", addr);
	xc_section_bytes(d.section, "bytes", "bytes", len);
	xc_section_text(d.section, "place", "in", xc_facts_place(process, addr, place, sizeof place));
	for (uint64_t at = 0; at < len; at += ROW)
		dump_row(&d, addr + at, len - at < ROW ? (size_t)(len - at) : ROW);
	struct xc_field *hex = xc_section_text(d.section, "hex", "hex", xc_text_string(&d.hex));
	hex->quiet = hex->cell.secret = true;
	xc_section_lines(d.section, "dump", xc_text_string(&d.lines))->secret = true;
	end_missing(&d);
	xc_text_fini(&d.lines);
	xc_text_fini(&d.hex);
}
