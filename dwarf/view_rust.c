#include "view_impl.h"
const struct xc_view_hook xc_view_rust[] = {{.name = NULL}};
const struct xc_view_hook xc_view_rust_maps[] = {{.name = NULL}};
