/* archive_layout: constants of the pack format, for recognising, reading and writing packs. The layout is in
 * archive.h. */
#ifndef XC_ARCHIVE_LAYOUT_H
#define XC_ARCHIVE_LAYOUT_H

#define XC_ARCHIVE_MAGIC "XCOREPCK"

enum {
	XC_ARCHIVE_FRAME = 0x184D2A5C, /* one of zstd's sixteen skippable magics */
	XC_ARCHIVE_VERSION = 1,
	XC_ARCHIVE_HEAD = 8 + 24,          /* frame header, and the part before the tables */
	XC_ARCHIVE_FILE_ROW = 8 + 24 + 32, /* without id and path */
	XC_ARCHIVE_MODULE_ROW = 8 + 12 + 10,
	XC_ARCHIVE_DIGEST = 32,
};

#endif
