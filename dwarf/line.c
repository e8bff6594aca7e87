/* line: the row of the line table that covers an address.
 *
 * libdw decodes a unit's line program once and sorts its rows by address. The row wanted is the last one at or below
 * the address, unless that one ends a sequence. Among rows of one address the last counts, but a
 * recommended breakpoint location (is_stmt) before one that is not: what debuggers show. A row of line 0 (code that the
 * compiler made for no line in particular) belongs to the row before it. */
#include "line.h"

#include <string.h>

/* Index of the first row above addr. */
static size_t upper_bound(Dwarf_Lines *lines, size_t count, uint64_t file_addr)
{
	size_t lo = 0, hi = count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Addr at;
		if (dwarf_lineaddr(dwarf_onesrcline(lines, mid), &at) == 0 && at <= file_addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static Dwarf_Line *statement_at_same_address(Dwarf_Lines *lines, size_t index)
{
	Dwarf_Line *row = dwarf_onesrcline(lines, index);
	Dwarf_Addr here, at;
	bool statement, end;
	dwarf_lineaddr(row, &here);
	for (size_t i = index + 1; i-- > 0;) {
		Dwarf_Line *other = dwarf_onesrcline(lines, i);
		if (dwarf_lineaddr(other, &at) != 0 || at != here)
			break;
		if (dwarf_lineendsequence(other, &end) == 0 && !end && dwarf_linebeginstatement(other, &statement) == 0 &&
		    statement)
			return other;
	}
	return row;
}

/* Back from `index` to the nearest row of a line; false when the sequence has none before. */
static bool back_to_line(Dwarf_Lines *lines, size_t *index)
{
	for (;; --*index) {
		Dwarf_Line *row = dwarf_onesrcline(lines, *index);
		bool end;
		int number;
		if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineno(row, &number) != 0)
			return false;
		if (number > 0)
			return true;
		if (*index == 0)
			return false;
	}
}

bool xc_line_at(Dwarf_Die *unit, uint64_t file_addr, struct xc_line *line_out)
{
	Dwarf_Lines *lines;
	size_t count;
	if (dwarf_getsrclines(unit, &lines, &count) != 0)
		return false;
	size_t after = upper_bound(lines, count, file_addr);
	if (after-- == 0 || !back_to_line(lines, &after))
		return false;
	Dwarf_Line *row = statement_at_same_address(lines, after);
	int number = 0, column = 0;
	if (dwarf_lineno(row, &number) != 0 || number <= 0)
		return false;
	dwarf_linecol(row, &column);
	*line_out = (struct xc_line){.file = dwarf_linesrc(row, NULL, NULL), .line = (unsigned)number,
				     .column = column > 0 ? (unsigned)column : 0};
	return true;
}

const char *xc_line_file(Dwarf_Die *unit, uint64_t number)
{
	Dwarf_Files *files;
	size_t count;
	if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}
