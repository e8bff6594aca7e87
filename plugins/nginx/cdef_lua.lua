-- cdef_lua.lua: types of ngx_http_lua_module as text for cdef.lua: src/ngx_http_lua_common.h, _shdict.h,
-- _socket_tcp.h, _timer.c. Checked against the compiler's layout of 0.10.23 and 0.10.28; conditions are written as in
-- cdef_core.lua, lua>10026 means since 0.10.26.
return [[
struct ngx_http_lua_regex_s {
	ngx_pool_t *pool; u_char *name_table; int name_count, name_entry_size, ncaptures; void *captures, *regex, *regex_sd,
	*replace; u_char *pattern;
};
struct ngx_http_lua_shm_zone_ctx_s {
	ngx_log_t *log; ngx_http_lua_main_conf_t *lmcf; ngx_cycle_t *cycle; ngx_shm_zone_t zone;
};
struct ngx_http_lua_shdict_shctx_s {
	ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel; ngx_queue_t lru_queue;
};
struct ngx_http_lua_shdict_list_node_s {
	ngx_queue_t queue; uint32_t value_len; uint8_t value_type; u_char data[1];
};
struct ngx_http_lua_shdict_node_s {
	u_char color; uint8_t value_type; u_short key_len; uint32_t value_len; uint64_t expires; ngx_queue_t queue; uint32_t
	user_flags; u_char data[1];
};
struct ngx_http_lua_shdict_ctx_s {
	ngx_http_lua_shdict_shctx_t *sh; ngx_slab_pool_t *shpool; ngx_str_t name; ngx_http_lua_main_conf_t *main_conf;
	ngx_log_t *log;
};
struct ngx_http_lua_socket_tcp_upstream_s {
	ngx_pt read_prepare_retvals, write_prepare_retvals, read_event_handler, write_event_handler; void *udata_queue;
	ngx_http_lua_socket_pool_t *socket_pool; ngx_http_lua_loc_conf_t *conf; void **cleanup; ngx_http_request_t *request;
	ngx_peer_connection_t peer; ngx_msec_t read_timeout, send_timeout, connect_timeout; void *resolved; ngx_chain_t
	*bufs_in, *buf_in; ngx_buf_t buffer; size_t length, rest; ngx_err_t socket_errno; ngx_pt input_filter; void
	*input_filter_ctx; size_t request_len; ngx_chain_t *request_bufs; ngx_http_lua_co_ctx_t *read_co_ctx, *write_co_ctx;
	ngx_uint_t reused;
	?http_ssl ngx_str_t ssl_name; void *ssl_session_ret; u_char *error_ret; int openssl_error_code_ret;
	ngx_chain_t *busy_bufs; unsigned ft_type:16, no_close:1, conn_waiting:1, read_waiting:1, write_waiting:1, eof:1,
	body_downstream:1, raw_downstream:1, read_closed:1, write_closed:1, conn_closed:1;
	?http_ssl unsigned ssl_verify:1, ssl_session_reuse:1;
};
struct ngx_http_lua_socket_pool_item_s {
	ngx_http_lua_socket_pool_t *socket_pool; ngx_queue_t queue; ngx_connection_t *connection; socklen_t socklen; u_char
	sockaddr[128] __attribute__((aligned(8))); ngx_uint_t reused; void *udata_queue;
};
struct ngx_http_lua_socket_pool_s {
	void *lua_vm; ngx_int_t size; ngx_queue_t cache_connect_op, wait_connect_op; ngx_int_t connections; ngx_queue_t cache,
	free; ngx_int_t backlog; u_char key[1];
};
struct ngx_http_lua_timer_ctx_s {
	void **main_conf, **srv_conf, **loc_conf, *co; ngx_pool_t *pool; ngx_listening_t *listening; ngx_str_t
	client_addr_text; ngx_http_lua_main_conf_t *lmcf; void *vm_state; int co_ref; unsigned delay:31, premature:1;
};
struct ngx_http_lua_co_ctx_s {
	void *data, *co; ngx_http_lua_co_ctx_t *parent_co_ctx; void *zombie_child_threads, **next_zombie_child_thread; ngx_pt
	cleanup; ngx_int_t *sr_statuses; void **sr_headers; ngx_str_t *sr_bodies; u_char *sr_flags; unsigned
	nresults_from_worker_thread;
	?lua>10026 unsigned nrets;
	unsigned nsubreqs, pending_subreqs; ngx_event_t sleep; ngx_queue_t sem_wait_queue; int co_ref; unsigned
	waited_by_parent:1, co_status:3, flushing:1, is_uthread:1, thread_spawn_yielded:1, sem_resume_status:1, is_wrap:1,
	propagate_error:1;
};
struct ngx_http_lua_ctx_s {
	void *vm_state; ngx_http_request_t *request; ngx_pt resume_handler; ngx_http_lua_co_ctx_t *cur_co_ctx; ngx_list_t
	*user_co_ctx; ngx_http_lua_co_ctx_t entry_co_ctx, *on_abort_co_ctx; int ctx_ref; unsigned flushing_coros; ngx_chain_t
	*out, *free_bufs, *busy_bufs, *free_recv_bufs, *filter_in_bufs, *filter_busy_bufs; void **cleanup, *free_cleanup;
	ngx_chain_t *body, **last_body; ngx_str_t exec_uri, exec_args; ngx_int_t exit_code; void *downstream; ngx_uint_t
	index; void *posted_threads; int uthreads; uint16_t context; unsigned run_post_subrequest:1, waiting_more_body:1,
	co_op:2, exited:1, eof:1, capture:1, read_body_done:1, headers_set:1, mime_set:1, entered_server_rewrite_phase:1,
	entered_rewrite_phase:1, entered_access_phase:1, entered_content_phase:1, buffering:1, no_abort:1, header_sent:1,
	seen_last_in_filter:1, seen_last_for_subreq:1, writing_raw_req_socket:1, acquired_raw_req_socket:1, seen_body_data:1;
};
struct ngx_http_lua_loc_conf_s {
	?http_ssl void *ssl;
	?lua>10026&http_ssl ngx_array_t *ssl_certificates, *ssl_certificate_keys;
	?http_ssl ngx_uint_t ssl_protocols; ngx_str_t ssl_ciphers; ngx_uint_t ssl_verify_depth;
	?http_ssl ngx_str_t ssl_trusted_certificate, ssl_crl;
	?>1.19.4&http_ssl ngx_array_t *ssl_conf_commands;
	ngx_flag_t force_read_body, enable_code_cache, http10_buffering; ngx_pt rewrite_handler, access_handler,
	content_handler, log_handler, header_filter_handler, body_filter_handler; u_char *rewrite_chunkname;
	ngx_http_complex_value_t rewrite_src; u_char *rewrite_src_key; int rewrite_src_ref; u_char *access_chunkname;
	ngx_http_complex_value_t access_src; u_char *access_src_key; int access_src_ref; u_char *content_chunkname;
	ngx_http_complex_value_t content_src; u_char *content_src_key; int content_src_ref; u_char *log_chunkname;
	ngx_http_complex_value_t log_src; u_char *log_src_key; int log_src_ref; ngx_http_complex_value_t header_filter_src;
	u_char *header_filter_chunkname, *header_filter_src_key; int header_filter_src_ref; ngx_http_complex_value_t
	body_filter_src; u_char *body_filter_src_key, *body_filter_chunkname; int body_filter_src_ref; ngx_msec_t
	keepalive_timeout, connect_timeout, send_timeout, read_timeout; size_t send_lowat, buffer_size; ngx_uint_t pool_size;
	ngx_flag_t transform_underscores_in_resp_headers, log_socket_errors, check_client_abort, use_default_type;
};
struct ngx_http_lua_main_conf_s {
	void *lua; ngx_pool_cleanup_t *vm_cleanup; ngx_str_t lua_path, lua_cpath; ngx_cycle_t *cycle; ngx_pool_t *pool;
	ngx_int_t max_pending_timers, pending_timers, max_running_timers, running_timers; ngx_connection_t *watcher; ngx_int_t
	lua_thread_cache_max_entries; ngx_hash_t builtin_headers_out;
	?pcre ngx_int_t regex_cache_entries, regex_cache_max_entries, regex_match_limit; void *jit_stack;
	ngx_array_t *shm_zones, *shdict_zones, *preload_hooks; ngx_flag_t postponed_to_rewrite_phase_end,
	postponed_to_access_phase_end; ngx_pt init_handler; ngx_str_t init_src; u_char *init_chunkname; ngx_pt
	init_worker_handler; ngx_str_t init_worker_src; u_char *init_worker_chunkname; ngx_pt exit_worker_handler; ngx_str_t
	exit_worker_src; u_char *exit_worker_chunkname;
	?lua<10027 void *balancer_peer_data;
	ngx_chain_t *body_filter_chain; ngx_http_variable_value_t *setby_args; size_t setby_nargs; ngx_uint_t
	shm_zones_inited; void *sema_mm; ngx_uint_t malloc_trim_cycle, malloc_trim_req_count, directive_line; ngx_buf_t
	**busy_buf_ptrs; ngx_int_t busy_buf_ptr_count, host_var_index; ngx_flag_t set_sa_restart; ngx_queue_t
	free_lua_threads, cached_lua_threads; ngx_uint_t worker_thread_vm_pool_size; unsigned requires_header_filter:1,
	requires_body_filter:1, requires_capture_filter:1, requires_rewrite:1, requires_access:1, requires_log:1,
	requires_shm:1, requires_capture_log:1, requires_server_rewrite:1;
};
]]
