/* flame_page: the fixed parts of the flame graph's SVG: its style and its script. */
#ifndef XC_FLAME_PAGE_H
#define XC_FLAME_PAGE_H

extern const char xc_flame_style[];  /* CSS, light and dark */
extern const char xc_flame_script[]; /* zoom, search, tooltips; contains no "]]>" */

#endif
