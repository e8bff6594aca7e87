/* report_wire_layout: the format of report_wire.h.
 *
 *	report   "xcore report", version; parts; END
 *	part     a tag and its content; items belong to the preceding section
 *	number   ULEB128       text  number (0: NULL, else length + 1), bytes       real  8 bytes, little-endian
 *	cell     kind (SECRET may be set), then a text, a number or a real by its kind */
#ifndef XC_REPORT_WIRE_LAYOUT_H
#define XC_REPORT_WIRE_LAYOUT_H

#define XC_WIRE_MAGIC "xcore report"
enum { XC_WIRE_VERSION = 1, XC_WIRE_CELL_SECRET = 0x80 };

enum xc_wire_tag {
	XC_WIRE_END,
	XC_WIRE_INCOMPLETE,
	XC_WIRE_LINE,     /* text */
	XC_WIRE_SECTION,  /* key, title, schema, headline, brief */
	XC_WIRE_FIELD,    /* key, label, quiet, cell; of a VALUE its JSON */
	XC_WIRE_TABLE,    /* key, columns: key, label, kind, verbose; rows; their cells */
	XC_WIRE_MESSAGE,  /* severity, text, hint */
	XC_WIRE_TEXT,     /* key, label, secret, quiet, text */
	XC_WIRE_TREE,     /* key, label, title, unit, weight of the root; nodes, depth-first: depth, name, own weight */
	XC_WIRE_DOCUMENT, /* key, text, JSON */
	XC_WIRE_HISTOGRAM, /* key, label, kind, count, cells least greatest sum mean, buckets: cells lo hi, count */
};

#endif
