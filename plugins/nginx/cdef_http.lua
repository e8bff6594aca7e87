-- cdef_http.lua: types of "http" and "stream" as text for cdef.lua: src/http, src/stream and their bundled modules.
-- Checked like cdef_core.lua; parts of 1.27 are as in the headers of 1.30.6, without additions of 1.29. Conditions
-- are written as there.
return [[
struct ngx_http_complex_value_s {
	ngx_str_t value; ngx_uint_t *flushes; void *lengths, *values; union { size_t size; } u;
};
struct ngx_stream_upstream_s {
	ngx_peer_connection_t peer; ngx_buf_t downstream_buf, upstream_buf; ngx_chain_t *free, *upstream_out, *upstream_busy,
	*downstream_out, *downstream_busy; off_t received; time_t start_sec; ngx_uint_t requests, responses; ngx_msec_t
	start_time; size_t upload_rate, download_rate; ngx_str_t ssl_name; ngx_stream_upstream_srv_conf_t *upstream; void
	*resolved, *state; unsigned connected:1, proxy_protocol:1;
	?>1.21.4 unsigned half_closed:1;
};
struct ngx_stream_upstream_peer_s {
	ngx_pt init_upstream, init; void *data;
};
struct ngx_stream_upstream_srv_conf_s {
	ngx_stream_upstream_peer_t peer; void **srv_conf; ngx_array_t *servers; ngx_uint_t flags; ngx_str_t host; u_char
	*file_name; ngx_uint_t line; in_port_t port; ngx_uint_t no_port;
	?stream_zone ngx_shm_zone_t *shm_zone;
	?>1.27.3&stream_zone void *resolver; ngx_msec_t resolver_timeout;
};
struct ngx_http_upstream_conf_s {
	ngx_http_upstream_srv_conf_t *upstream; ngx_msec_t connect_timeout, send_timeout, read_timeout, next_upstream_timeout;
	size_t send_lowat, buffer_size, limit_rate, busy_buffers_size, max_temp_file_size, temp_file_write_size,
	busy_buffers_size_conf, max_temp_file_size_conf, temp_file_write_size_conf; ngx_bufs_t bufs; ngx_uint_t
	ignore_headers, next_upstream, store_access, next_upstream_tries; ngx_flag_t buffering, request_buffering,
	pass_request_headers, pass_request_body;
	?>1.27.2 ngx_flag_t pass_trailers;
	ngx_flag_t ignore_client_abort, intercept_errors, cyclic_temp_file, force_ranges; ngx_path_t *temp_path; ngx_hash_t hide_headers_hash; ngx_array_t *hide_headers, *pass_headers; void *local; ngx_flag_t
	socket_keepalive;
	?cache ngx_shm_zone_t *cache_zone; void *cache_value; ngx_uint_t cache_min_uses, cache_use_stale;
	?cache ngx_uint_t cache_methods; off_t cache_max_range_offset; ngx_flag_t cache_lock;
	?cache ngx_msec_t cache_lock_timeout, cache_lock_age; ngx_flag_t cache_revalidate, cache_convert_head;
	?cache ngx_flag_t cache_background_update; ngx_array_t *cache_valid, *cache_bypass, *cache_purge;
	?cache ngx_array_t *no_cache;
	ngx_array_t *store_lengths, *store_values;
	?cache unsigned cache:2;
	unsigned store:2, intercept_404:1, change_buffering:1;
	?<1.27.2 unsigned pass_trailers:1;
	unsigned preserve_output:1;
	?ssl void *ssl; ngx_flag_t ssl_session_reuse; void *ssl_name; ngx_flag_t ssl_server_name, ssl_verify;
	?>1.21.0&ssl void *ssl_certificate, *ssl_certificate_key;
	?>1.27.4&ssl void *ssl_certificate_cache;
	?>1.21.0&ssl ngx_array_t *ssl_passwords;
	ngx_str_t module;
	?<1.27.2&compat uint64_t spare[2];
};
struct ngx_http_proxy_headers_s {
	ngx_array_t *flushes, *lengths, *values; ngx_hash_t hash;
};
struct ngx_http_proxy_vars_s {
	ngx_str_t key_start, schema, host_header, port, uri;
};
struct ngx_http_proxy_loc_conf_s {
	ngx_http_upstream_conf_t upstream; ngx_array_t *body_flushes, *body_lengths, *body_values; ngx_str_t body_source;
	ngx_http_proxy_headers_t headers, headers_cache; ngx_array_t *headers_source, *proxy_lengths, *proxy_values,
	*redirects, *cookie_domains, *cookie_paths;
	?>1.19.3 ngx_array_t *cookie_flags;
	void *method; ngx_str_t location, url; ngx_http_complex_value_t cache_key; ngx_http_proxy_vars_t vars; ngx_flag_t
	redirect; ngx_uint_t http_version, headers_hash_max_size, headers_hash_bucket_size;
	?http_ssl ngx_uint_t ssl, ssl_protocols; ngx_str_t ssl_ciphers; ngx_uint_t ssl_verify_depth;
	?http_ssl ngx_str_t ssl_trusted_certificate, ssl_crl;
	?<1.21.0&http_ssl ngx_str_t ssl_certificate, ssl_certificate_key; ngx_array_t *ssl_passwords;
	?>1.19.4&http_ssl ngx_array_t *ssl_conf_commands;
};
struct ngx_http_rewrite_loc_conf_s {
	ngx_array_t *codes; ngx_uint_t stack_size; ngx_flag_t log, uninitialized_variable_warn;
};
struct ngx_http_limit_conn_ctx_s {
	ngx_http_limit_conn_shctx_t *sh; ngx_slab_pool_t *shpool; ngx_http_complex_value_t key;
};
struct ngx_http_limit_conn_node_s {
	u_char color, len; u_short conn; u_char data[1];
};
struct ngx_http_limit_req_ctx_s {
	ngx_http_limit_req_shctx_t *sh; ngx_slab_pool_t *shpool; ngx_uint_t rate; ngx_http_complex_value_t key;
	ngx_http_limit_req_node_t *node;
};
struct ngx_http_limit_req_node_s {
	u_char color, dummy; u_short len; ngx_queue_t queue; ngx_msec_t last; ngx_uint_t excess, count; u_char data[1];
};
struct ngx_http_upstream_keepalive_cache_s {
	ngx_http_upstream_keepalive_srv_conf_t *conf; ngx_queue_t queue; ngx_connection_t *connection; socklen_t socklen;
	ngx_sockaddr_t sockaddr;
};
struct ngx_http_upstream_keepalive_srv_conf_s {
	ngx_uint_t max_cached, requests;
	?>1.19.10 ngx_msec_t time;
	ngx_msec_t timeout; ngx_queue_t cache, free; ngx_pt original_init_upstream, original_init_peer;
};
struct ngx_http_file_cache_node_s {
	ngx_rbtree_node_t node; ngx_queue_t queue; u_char key[8]; unsigned count:20, uses:10, valid_msec:10, error:10,
	exists:1, updating:1, deleting:1, purged:1; ngx_file_uniq_t uniq; time_t expire, valid_sec; size_t body_start; off_t
	fs_size; ngx_msec_t lock_time;
};
struct ngx_http_file_cache_s {
	ngx_http_file_cache_sh_t *sh; ngx_slab_pool_t *shpool; ngx_path_t *path;
	?>1.19.1 off_t min_free;
	off_t max_size; size_t bsize; time_t inactive, fail_time; ngx_uint_t files, loader_files; ngx_msec_t last,
	loader_sleep, loader_threshold; ngx_uint_t manager_files; ngx_msec_t manager_sleep, manager_threshold; ngx_shm_zone_t
	*shm_zone; ngx_uint_t use_temp_path;
};
struct ngx_http_file_cache_sh_s {
	ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel; ngx_queue_t queue; ngx_atomic_t cold, loading; off_t size; ngx_uint_t
	count, watermark;
};
struct ngx_http_addr_conf_s {
	ngx_http_core_srv_conf_t *default_server; ngx_http_virtual_names_t *virtual_names; unsigned ssl:1, http2:1;
	?>1.25.0 unsigned quic:1;
	unsigned proxy_protocol:1;
};
struct ngx_http_in6_addr_s {
	u_char addr6[16]; ngx_http_addr_conf_t conf;
};
struct ngx_http_virtual_names_s {
	ngx_hash_combined_t names; ngx_uint_t nregex; ngx_http_server_name_t *regex;
};
struct ngx_http_server_name_s {
	?pcre void *regex;
	ngx_http_core_srv_conf_t *server; ngx_str_t name;
};
struct ngx_http_core_srv_conf_s {
	ngx_array_t server_names; ngx_http_conf_ctx_t *ctx; u_char *file_name; ngx_uint_t line; ngx_str_t server_name; size_t
	connection_pool_size, request_pool_size, client_header_buffer_size; ngx_bufs_t large_client_header_buffers; ngx_msec_t
	client_header_timeout; ngx_flag_t ignore_invalid_headers, merge_slashes, underscores_in_headers; unsigned listen:1;
	?pcre unsigned captures:1;
	ngx_http_core_loc_conf_t **named_locations;
};
struct ngx_http_core_loc_conf_s {
	ngx_str_t name;
	?>1.21.0 ngx_str_t escaped_name;
	?pcre void *regex;
	unsigned noname:1, lmt_excpt:1, named:1, exact_match:1, noregex:1, auto_redirect:1;
	?gzip unsigned gzip_disable_msie6:2, gzip_disable_degradation:2;
	ngx_http_location_tree_node_t *static_locations;
	?pcre ngx_http_core_loc_conf_t **regex_locations;
	void **loc_conf; uint32_t limit_except; void **limit_except_loc_conf; ngx_pt handler; size_t alias; ngx_str_t root,
	post_action; ngx_array_t *root_lengths, *root_values, *types; ngx_hash_t types_hash; ngx_str_t default_type; off_t
	client_max_body_size, directio, directio_alignment; size_t client_body_buffer_size, send_lowat, postpone_output,
	sendfile_max_chunk, read_ahead, subrequest_output_buffer_size; void *limit_rate, *limit_rate_after; ngx_msec_t
	client_body_timeout, send_timeout;
	?>1.19.10 ngx_msec_t keepalive_time;
	ngx_msec_t keepalive_timeout;
	?>1.27.4 ngx_msec_t keepalive_min_timeout;
	ngx_msec_t lingering_time, lingering_timeout, resolver_timeout, auth_delay; void *resolver; time_t
	keepalive_header; ngx_uint_t keepalive_requests, keepalive_disable, satisfy, lingering_close, if_modified_since,
	max_ranges, client_body_in_file_only; ngx_flag_t client_body_in_single_buffer, internal, sendfile, aio, aio_write,
	tcp_nopush, tcp_nodelay, reset_timedout_connection, absolute_redirect, server_name_in_redirect, port_in_redirect,
	msie_padding, msie_refresh, log_not_found, log_subrequest, recursive_error_pages; ngx_uint_t server_tokens; ngx_flag_t
	chunked_transfer_encoding, etag;
	?gzip ngx_flag_t gzip_vary; ngx_uint_t gzip_http_version, gzip_proxied;
	?pcre&gzip ngx_array_t *gzip_disable;
	?threads void *thread_pool, *thread_pool_value;
	ngx_uint_t disable_symlinks; void *disable_symlinks_from; ngx_array_t *error_pages; ngx_path_t *client_body_temp_path;
	void *open_file_cache; time_t open_file_cache_valid; ngx_uint_t open_file_cache_min_uses; ngx_flag_t
	open_file_cache_errors, open_file_cache_events; ngx_log_t *error_log; ngx_uint_t types_hash_max_size,
	types_hash_bucket_size; ngx_queue_t *locations;
};
struct ngx_http_location_tree_node_s {
	ngx_http_location_tree_node_t *left, *right, *tree; ngx_http_core_loc_conf_t *exact, *inclusive;
	?>1.25.1 u_short len;
	u_char auto_redirect;
	?<1.25.1 u_char len;
	u_char name[1];
};
struct ngx_http_conf_ctx_s {
	void **main_conf, **srv_conf, **loc_conf;
};
struct ngx_http_in_addr_s {
	unsigned addr; ngx_http_addr_conf_t conf;
};
struct ngx_http_port_s {
	void *addrs; ngx_uint_t naddrs;
};
struct ngx_stream_session_s {
	uint32_t signature; ngx_connection_t *connection; off_t received; time_t start_sec; ngx_msec_t start_msec; ngx_pt
	log_handler; void **ctx, **main_conf, **srv_conf;
	?>1.25.5 void *virtual_names;
	ngx_stream_upstream_t *upstream; ngx_array_t *upstream_states; void *variables;
	?pcre ngx_uint_t ncaptures; void *captures; u_char *captures_data;
	ngx_int_t phase_handler; ngx_uint_t status; unsigned ssl:1, stat_processing:1, health_check:1, limit_conn_status:2;
};
struct ngx_stream_upstream_rr_peers_s {
	ngx_uint_t number;
	?stream_zone ngx_slab_pool_t *shpool; ngx_atomic_t rwlock;
	?>1.27.3&stream_zone ngx_uint_t *config; ngx_stream_upstream_rr_peer_t *resolve;
	?stream_zone ngx_stream_upstream_rr_peers_t *zone_next;
	ngx_uint_t total_weight;
	?>1.19.9 ngx_uint_t tries;
	unsigned single:1, weighted:1; ngx_str_t *name; ngx_stream_upstream_rr_peers_t *next; ngx_stream_upstream_rr_peer_t
	*peer;
};
struct ngx_stream_upstream_rr_peer_s {
	void *sockaddr; socklen_t socklen; ngx_str_t name, server; ngx_int_t current_weight, effective_weight, weight;
	ngx_uint_t conns, max_conns, fails; time_t accessed, checked; ngx_uint_t max_fails; time_t fail_timeout; ngx_msec_t
	slow_start, start_time; ngx_uint_t down; void *ssl_session; int ssl_session_len;
	?>1.27.3&stream_zone unsigned zombie:1;
	?stream_zone ngx_atomic_t lock;
	?>1.27.3&stream_zone ngx_uint_t refs; void *host;
	ngx_stream_upstream_rr_peer_t *next;
	?<1.27.3&compat uint64_t spare[25];
};
struct ngx_stream_upstream_main_conf_s {
	ngx_array_t upstreams;
};
struct ngx_http_upstream_rr_peers_s {
	ngx_uint_t number;
	?zone ngx_slab_pool_t *shpool; ngx_atomic_t rwlock;
	?>1.27.3&zone ngx_uint_t *config; ngx_http_upstream_rr_peer_t *resolve;
	?zone ngx_http_upstream_rr_peers_t *zone_next;
	ngx_uint_t total_weight;
	?>1.19.9 ngx_uint_t tries;
	unsigned single:1, weighted:1; ngx_str_t *name; ngx_http_upstream_rr_peers_t *next; ngx_http_upstream_rr_peer_t *peer;
};
struct ngx_http_upstream_rr_peer_s {
	void *sockaddr; socklen_t socklen; ngx_str_t name, server; ngx_int_t current_weight, effective_weight, weight;
	ngx_uint_t conns, max_conns, fails; time_t accessed, checked; ngx_uint_t max_fails; time_t fail_timeout; ngx_msec_t
	slow_start, start_time; ngx_uint_t down;
	?ssl void *ssl_session; int ssl_session_len;
	?>1.27.3&zone unsigned zombie:1;
	?zone ngx_atomic_t lock;
	?>1.27.3&zone ngx_uint_t refs; void *host;
	ngx_http_upstream_rr_peer_t *next;
	?<1.27.3&compat uint64_t spare[32];
};
struct ngx_http_upstream_peer_s {
	ngx_pt init_upstream, init; void *data;
};
struct ngx_http_upstream_srv_conf_s {
	ngx_http_upstream_peer_t peer; void **srv_conf; ngx_array_t *servers; ngx_uint_t flags; ngx_str_t host; u_char
	*file_name; ngx_uint_t line; in_port_t port; ngx_uint_t no_port;
	?zone ngx_shm_zone_t *shm_zone;
	?>1.27.3&zone void *resolver; ngx_msec_t resolver_timeout;
};
struct ngx_http_upstream_main_conf_s {
	ngx_hash_t headers_in_hash; ngx_array_t upstreams;
};
struct ngx_http_v2_srv_conf_s {
	?>1.25.1 ngx_flag_t enable;
	size_t pool_size; ngx_uint_t concurrent_streams;
	?<1.25.1 ngx_uint_t concurrent_pushes;
	?<1.19.7 ngx_uint_t max_requests; size_t max_field_size, max_header_size;
	size_t preread_size; ngx_uint_t streams_index_mask;
	?<1.19.7 ngx_msec_t recv_timeout, idle_timeout;
};
struct ngx_http_v2_stream_s {
	ngx_http_request_t *request; ngx_http_v2_connection_t *connection; ngx_http_v2_node_t *node; ngx_uint_t queued;
	ssize_t send_window; size_t recv_window; ngx_buf_t *preread; ngx_uint_t frames; void *free_frames; ngx_chain_t
	*free_frame_headers, *free_bufs; ngx_queue_t queue; ngx_array_t *cookies; ngx_pool_t *pool; unsigned waiting:1,
	blocked:1, exhausted:1, in_closed:1, out_closed:1, rst_sent:1, no_flow_control:1, skip_data:1;
};
struct ngx_http_v2_node_s {
	ngx_uint_t id; ngx_http_v2_node_t *index, *parent; ngx_queue_t queue, children, reuse; ngx_uint_t rank, weight; double
	rel_weight; ngx_http_v2_stream_t *stream;
};
struct ngx_http_v2_header_s {
	ngx_str_t name, value;
};
struct ngx_http_v2_state_s {
	ngx_uint_t sid; size_t length, padding; unsigned flags:8, incomplete:1, keep_pool:1, parse_name:1, parse_value:1,
	index:1; ngx_http_v2_header_t header; size_t header_limit; u_char field_state, *field_start, *field_end; size_t
	field_rest; ngx_pool_t *pool; ngx_http_v2_stream_t *stream; u_char buffer[16]; size_t buffer_used; ngx_pt handler;
};
struct ngx_http_v2_hpack_s {
	void **entries; ngx_uint_t added, deleted, reused, allocated; size_t size, free; u_char *storage, *pos;
};
struct ngx_http_v2_connection_s {
	ngx_connection_t *connection; ngx_http_connection_t *http_connection; off_t total_bytes, payload_bytes; ngx_uint_t
	processing, frames, idle;
	?>1.25.3 ngx_uint_t new_streams, refused_streams;
	ngx_uint_t priority_limit;
	?<1.25.1 ngx_uint_t pushing, concurrent_pushes;
	size_t send_window, recv_window, init_window, frame_size; ngx_queue_t waiting; ngx_http_v2_state_t state;
	ngx_http_v2_hpack_t hpack; ngx_pool_t *pool; void *free_frames; ngx_connection_t *free_fake_connections;
	ngx_http_v2_node_t **streams_index; void *last_out; ngx_queue_t dependencies, closed;
	?>1.25.1 ngx_uint_t closed_nodes;
	ngx_uint_t last_sid;
	?<1.25.1 ngx_uint_t last_push;
	?>1.19.8 time_t lingering_time;
	?<1.25.1 unsigned closed_nodes:8;
	unsigned settings_ack:1, table_update:1, blocked:1, goaway:1;
	?<1.25.1 unsigned push_disabled:1;
};
struct ngx_http_connection_s {
	ngx_http_addr_conf_t *addr_conf; ngx_http_conf_ctx_t *conf_ctx;
	?ssl ngx_str_t *ssl_servername;
	?ssl&pcre void *ssl_servername_regex;
	ngx_chain_t *busy; ngx_int_t nbusy; ngx_chain_t *free;
	?>1.27.4 ngx_msec_t keepalive_timeout;
	unsigned ssl:1, proxy_protocol:1;
};
struct ngx_http_headers_in_s {
	ngx_list_t headers; ngx_table_elt_t *host, *connection, *if_modified_since, *if_unmodified_since, *if_match,
	*if_none_match, *user_agent, *referer, *content_length, *content_range, *content_type, *range, *if_range,
	*transfer_encoding, *te, *expect, *upgrade;
	?gzip|headers ngx_table_elt_t *accept_encoding, *via;
	ngx_table_elt_t *authorization, *keep_alive;
	?<1.23.0&forwarded ngx_array_t x_forwarded_for;
	?>1.23.0&forwarded ngx_table_elt_t *x_forwarded_for;
	?realip ngx_table_elt_t *x_real_ip;
	?headers ngx_table_elt_t *accept, *accept_language;
	?dav ngx_table_elt_t *depth, *destination, *overwrite, *date;
	?>1.23.0 ngx_table_elt_t *cookie;
	ngx_str_t user, passwd;
	?<1.23.0 ngx_array_t cookies;
	ngx_str_t server; off_t content_length_n; time_t keep_alive_n; unsigned connection_type:2, chunked:1;
	?>1.23.0 unsigned multi:1, multi_linked:1;
	unsigned msie:1, msie6:1, opera:1, gecko:1, chrome:1, safari:1, konqueror:1;
};
struct ngx_http_headers_out_s {
	ngx_list_t headers, trailers; ngx_uint_t status; ngx_str_t status_line; ngx_table_elt_t *server, *date,
	*content_length, *content_encoding, *location, *refresh, *last_modified, *content_range, *accept_ranges,
	*www_authenticate, *expires, *etag;
	?>1.23.0 ngx_table_elt_t *cache_control, *link;
	ngx_str_t *override_charset; size_t content_type_len; ngx_str_t content_type, charset; u_char *content_type_lowcase;
	ngx_uint_t content_type_hash;
	?<1.23.0 ngx_array_t cache_control, link;
	off_t content_length_n, content_offset; time_t date_time, last_modified_time;
};
struct ngx_http_request_s {
	uint32_t signature; ngx_connection_t *connection; void **ctx, **main_conf, **srv_conf, **loc_conf; ngx_pt
	read_event_handler, write_event_handler;
	?cache void *cache;
	ngx_http_upstream_t *upstream; ngx_array_t *upstream_states; ngx_pool_t *pool; ngx_buf_t *header_in;
	ngx_http_headers_in_t headers_in; ngx_http_headers_out_t headers_out; ngx_http_request_body_t *request_body; time_t
	lingering_time, start_sec; ngx_msec_t start_msec; ngx_uint_t method, http_version; ngx_str_t request_line, uri, args,
	exten, unparsed_uri, method_name, http_protocol, schema; ngx_chain_t *out; ngx_http_request_t *main, *parent;
	ngx_http_postponed_request_t *postponed; void *post_subrequest, *posted_requests; ngx_int_t phase_handler; ngx_pt
	content_handler; ngx_uint_t access_code; ngx_http_variable_value_t *variables;
	?pcre ngx_uint_t ncaptures; void *captures; u_char *captures_data;
	size_t limit_rate, limit_rate_after, header_size; off_t request_length; ngx_uint_t err_status; ngx_http_connection_t
	*http_connection; ngx_http_v2_stream_t *stream;
	?>1.25.0 void *v3_parse;
	ngx_pt log_handler; void *cleanup; unsigned count:16, subrequests:8, blocked:8, aio:1, http_state:4, complex_uri:1,
	quoted_uri:1, plus_in_uri:1;
	?<1.21.1 unsigned space_in_uri:1;
	?>1.21.1 unsigned empty_path_in_uri:1;
	unsigned invalid_header:1, add_uri_to_alias:1, valid_location:1, valid_unparsed_uri:1, uri_changed:1, uri_changes:4,
	request_body_in_single_buf:1, request_body_in_file_only:1, request_body_in_persistent_file:1,
	request_body_in_clean_file:1, request_body_file_group_access:1, request_body_file_log_level:3,
	request_body_no_buffering:1, subrequest_in_memory:1, waited:1;
	?cache unsigned cached:1;
	?gzip unsigned gzip_tested:1, gzip_ok:1, gzip_vary:1;
	?pcre unsigned realloc_captures:1;
	unsigned proxy:1, bypass_cache:1, no_cache:1, limit_conn_status:2, limit_req_status:3, limit_rate_set:1,
	limit_rate_after_set:1, pipeline:1, chunked:1, header_only:1, expect_trailers:1, keepalive:1, lingering_close:1,
	discard_body:1, reading_body:1, internal:1, error_page:1, filter_finalize:1, post_action:1, request_complete:1,
	request_output:1, header_sent:1;
	?>1.25.0 unsigned response_sent:1;
	unsigned expect_tested:1, root_tested:1, done:1, logged:1;
	?>1.25.4 unsigned terminated:1;
	unsigned buffered:4, main_filter_need_in_memory:1, filter_need_in_memory:1, filter_need_temporary:1, preserve_body:1,
	allow_ranges:1, subrequest_ranges:1, single_range:1, disable_not_modified:1, stat_reading:1, stat_writing:1,
	stat_processing:1, background:1, health_check:1; ngx_uint_t state, header_hash, lowcase_index; u_char
	lowcase_header[32], *header_name_start, *header_name_end, *header_start, *header_end, *uri_start, *uri_end, *uri_ext,
	*args_start, *request_start, *request_end, *method_end, *schema_start, *schema_end, *host_start, *host_end;
	?<1.25.0 u_char *port_start, *port_end;
	unsigned http_minor:16, http_major:16;
};
struct ngx_http_variable_value_s {
	unsigned len:28, valid:1, no_cacheable:1, not_found:1, escape:1; u_char *data;
};
struct ngx_http_postponed_request_s {
	ngx_http_request_t *request; ngx_chain_t *out; ngx_http_postponed_request_t *next;
};
struct ngx_http_request_body_s {
	void *temp_file; ngx_chain_t *bufs; ngx_buf_t *buf; off_t rest, received; ngx_chain_t *free, *busy; void *chunked;
	ngx_pt post_handler;
	?>1.21.2 unsigned filter_need_buffering:1, last_sent:1, last_saved:1;
};
struct ngx_http_upstream_headers_in_s {
	ngx_list_t headers, trailers; ngx_uint_t status_n; ngx_str_t status_line; ngx_table_elt_t *status, *date, *server,
	*connection, *expires, *etag, *x_accel_expires, *x_accel_redirect, *x_accel_limit_rate, *content_type,
	*content_length, *last_modified, *location;
	?<1.23.0 ngx_table_elt_t *accept_ranges;
	?>1.23.0 ngx_table_elt_t *refresh;
	ngx_table_elt_t *www_authenticate, *transfer_encoding, *vary;
	?<1.23.0&gzip ngx_table_elt_t *content_encoding;
	?<1.23.0 ngx_array_t cache_control, cookies;
	?>1.23.0 ngx_table_elt_t *cache_control, *set_cookie;
	off_t content_length_n; time_t last_modified_time; unsigned connection_close:1, chunked:1;
	?>1.23.0 unsigned no_cache:1, expired:1;
};
struct ngx_http_upstream_s {
	ngx_pt read_event_handler, write_event_handler; ngx_peer_connection_t peer; ngx_event_pipe_t *pipe; ngx_chain_t *request_bufs;
	ngx_output_chain_ctx_t output; ngx_chain_writer_ctx_t writer; ngx_http_upstream_conf_t *conf;
	ngx_http_upstream_srv_conf_t *upstream;
	?cache ngx_array_t *caches;
	ngx_http_upstream_headers_in_t headers_in; void *resolved; ngx_buf_t from_client, buffer; off_t length; ngx_chain_t
	*out_bufs, *busy_bufs, *free_bufs; ngx_pt input_filter_init, input_filter; void *input_filter_ctx;
	?cache ngx_pt create_key;
	ngx_pt create_request, reinit_request, process_header, abort_request, finalize_request, rewrite_redirect,
	rewrite_cookie; ngx_msec_t start_time; ngx_http_upstream_state_t *state; ngx_str_t method, schema, uri;
	?ssl ngx_str_t ssl_name;
	void **cleanup; unsigned store:1, cacheable:1, accel:1, ssl:1;
	?cache unsigned cache_status:3;
	unsigned buffering:1, keepalive:1, upgrade:1;
	?>1.19.1 unsigned error:1;
	unsigned request_sent:1, request_body_sent:1, request_body_blocked:1, header_sent:1;
};
struct ngx_http_upstream_state_s {
	ngx_uint_t status; ngx_msec_t response_time, connect_time, header_time, queue_time; off_t response_length,
	bytes_received, bytes_sent; ngx_str_t *peer;
};
struct ngx_http_variable_s {
	ngx_str_t name; ngx_pt set_handler, get_handler; uintptr_t data; ngx_uint_t flags, index;
};
struct ngx_http_phase_engine_s {
	ngx_http_phase_handler_t *handlers; ngx_uint_t server_rewrite_index, location_rewrite_index;
};
struct ngx_http_phase_s {
	ngx_array_t handlers;
};
struct ngx_http_core_main_conf_s {
	ngx_array_t servers; ngx_http_phase_engine_t phase_engine; ngx_hash_t headers_in_hash, variables_hash; ngx_array_t
	variables, prefix_variables; ngx_uint_t ncaptures, server_names_hash_max_size, server_names_hash_bucket_size,
	variables_hash_max_size, variables_hash_bucket_size; void *variables_keys; ngx_array_t *ports; ngx_http_phase_t
	phases[11];
};
struct ngx_http_phase_handler_s {
	ngx_pt checker, handler; ngx_uint_t next;
};
struct ngx_http_log_ctx_s {
	ngx_connection_t *connection; ngx_http_request_t *request, *current_request;
};
struct ngx_stream_conf_ctx_s {
	void **main_conf, **srv_conf;
};
struct ngx_http_limit_conn_shctx_s {
	ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel;
};
struct ngx_stream_complex_value_s {
	ngx_str_t value; ngx_uint_t *flushes; void *lengths, *values; union { size_t size; } u;
};
struct ngx_stream_limit_conn_ctx_s {
	ngx_stream_limit_conn_shctx_t *sh; ngx_slab_pool_t *shpool; ngx_stream_complex_value_t key;
};
struct ngx_stream_limit_conn_shctx_s {
	ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel;
};
struct ngx_stream_limit_conn_node_s {
	u_char color, len; u_short conn; u_char data[1];
};
struct ngx_http_limit_req_shctx_s {
	ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel; ngx_queue_t queue;
};
]]
