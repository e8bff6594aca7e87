-- cdef_core.lua: nginx's own types as text for cdef.lua, from src/core, src/event and src/os/unix. Checked against
-- the compiler's layout of 1.18.0, 1.22.1 and 1.26.3, with and without --with-compat, and with several sets of
-- options. A line that begins with ?condition exists in builds for which the condition holds: >1.21.0 means since
-- 1.21.0, <1.21.0 before it.
return [[
struct ngx_str_s {
	size_t len; u_char *data;
};
struct ngx_shm_s {
	u_char *addr; size_t size; ngx_str_t name; ngx_log_t *log; ngx_uint_t exists;
};
struct ngx_shm_zone_s {
	void *data; ngx_shm_t shm; ngx_pt init; void *tag, *sync; ngx_uint_t noreuse;
};
struct ngx_rbtree_s {
	ngx_rbtree_node_t *root, *sentinel; ngx_pt insert;
};
struct ngx_rbtree_node_s {
	ngx_rbtree_key_t key; ngx_rbtree_node_t *left, *right, *parent; u_char color, data;
};
struct ngx_queue_s {
	ngx_queue_t *prev, *next;
};
struct ngx_peer_connection_s {
	ngx_connection_t *connection; void *sockaddr; socklen_t socklen; ngx_str_t *name; ngx_uint_t tries; ngx_msec_t
	start_time; ngx_pt get, free, notify; void *data;
	?ssl ngx_pt set_session, save_session;
	ngx_addr_t *local; int type, rcvbuf; ngx_log_t *log; unsigned cached:1, transparent:1, so_keepalive:1, down:1,
	log_error:2;
	?compat uint64_t spare[2];
};
struct ngx_buf_s {
	u_char *pos, *last; off_t file_pos, file_last; u_char *start, *end; void *tag; ngx_file_t *file; ngx_buf_t *shadow; unsigned
	temporary:1, memory:1, mmap:1, recycled:1, in_file:1, flush:1, sync:1, last_buf:1, last_in_chain:1, last_shadow:1,
	temp_file:1; int num;
};
struct ngx_file_s {
	ngx_fd_t fd; ngx_str_t name; uint64_t info[18]; off_t offset, sys_offset; ngx_log_t *log;
	?threads ngx_pt thread_handler; void *thread_ctx, *thread_task;
	?aio void *aio;
	unsigned valid_info:1, directio:1;
};
struct ngx_event_s {
	void *data; unsigned write:1, accept:1, instance:1, active:1, disabled:1, ready:1, oneshot:1, complete:1, eof:1,
	error:1, timedout:1, timer_set:1, delayed:1, deferred_accept:1, pending_eof:1, posted:1, closed:1, channel:1,
	resolver:1, cancelable:1; int available; ngx_pt handler; ngx_uint_t index; ngx_log_t *log; ngx_rbtree_node_t timer;
	ngx_queue_t queue;
};
struct ngx_hash_s {
	ngx_hash_elt_t **buckets; ngx_uint_t size;
};
struct ngx_log_s {
	ngx_uint_t log_level; ngx_open_file_t *file; ngx_atomic_uint_t connection; time_t disk_full_time; ngx_pt handler; void
	*data; ngx_pt writer; void *wdata; u_char *action; ngx_log_t *next;
};
struct ngx_open_file_s {
	ngx_fd_t fd; ngx_str_t name; ngx_pt flush; void *data;
};
struct ngx_array_s {
	void *elts; ngx_uint_t nelts; size_t size; ngx_uint_t nalloc; ngx_pool_t *pool;
};
struct ngx_pool_data_s {
	u_char *last, *end; ngx_pool_t *next; ngx_uint_t failed;
};
struct ngx_pool_s {
	ngx_pool_data_t d; size_t max; ngx_pool_t *current; ngx_chain_t *chain; ngx_pool_large_t *large; ngx_pool_cleanup_t
	*cleanup; ngx_log_t *log;
};
struct ngx_pool_cleanup_s {
	ngx_pt handler; void *data; ngx_pool_cleanup_t *next;
};
struct ngx_pool_large_s {
	ngx_pool_large_t *next; void *alloc;
};
struct ngx_chain_s {
	ngx_buf_t *buf; ngx_chain_t *next;
};
struct ngx_addr_s {
	void *sockaddr; socklen_t socklen; ngx_str_t name;
};
struct ngx_connection_s {
	void *data; ngx_event_t *read, *write; ngx_socket_t fd; ngx_pt recv, send, recv_chain, send_chain; ngx_listening_t
	*listening; off_t sent; ngx_log_t *log; ngx_pool_t *pool; int type; void *sockaddr; socklen_t socklen; ngx_str_t
	addr_text; void *proxy_protocol;
	?quic void *quic;
	?ssl ngx_ssl_connection_t *ssl;
	void *udp, *local_sockaddr; socklen_t local_socklen; ngx_buf_t *buffer; ngx_queue_t queue; ngx_atomic_uint_t number;
	?>1.19.10 ngx_msec_t start_time;
	ngx_uint_t requests; unsigned buffered:8, log_error:3, timedout:1, error:1, destroyed:1;
	?>1.21.0 unsigned pipeline:1;
	unsigned idle:1, reusable:1, close:1, shared:1, sendfile:1, sndlowat:1, tcp_nodelay:2, tcp_nopush:2, need_last_buf:1;
	?>1.25.0 unsigned need_flush_buf:1;
	?nodiskio unsigned busy_count:2;
	?threads void *sendfile_task;
};
struct ngx_ssl_connection_s {
	void *connection, *session_ctx; ngx_int_t last; ngx_buf_t *buf; size_t buffer_size; ngx_pt handler; void *session;
	ngx_pt save_session, saved_read_handler, saved_write_handler;
	?>1.19.0 void *ocsp;
	u_char early_buf; unsigned handshaked:1;
	?>1.19.4 unsigned handshake_rejected:1;
	unsigned renegotiation:1, buffer:1;
	?>1.21.4 unsigned sendfile:1;
	unsigned no_wait_shutdown:1, no_send_shutdown:1;
	?>1.19.6 unsigned shutdown_without_free:1;
	unsigned handshake_buffer_set:1;
	?>1.23.2 unsigned session_timeout_set:1;
	unsigned try_early_data:1, in_early:1;
	?>1.19.0 unsigned in_ocsp:1;
	unsigned early_preread:1, write_blocked:1;
};
struct ngx_listening_s {
	ngx_socket_t fd; void *sockaddr; socklen_t socklen; size_t addr_text_max_len; ngx_str_t addr_text; int type, backlog,
	rcvbuf, sndbuf, keepidle, keepintvl, keepcnt; ngx_pt handler; void *servers; ngx_log_t log, *logp; size_t pool_size,
	post_accept_buffer_size;
	?<1.19.7 ngx_msec_t post_accept_timeout;
	ngx_listening_t *previous; ngx_connection_t *connection; ngx_rbtree_t rbtree; ngx_rbtree_node_t sentinel; ngx_uint_t
	worker; unsigned open:1, remain:1, ignore:1, bound:1, inherited:1, nonblocking_accept:1, listen:1, nonblocking:1,
	shared:1, addr_ntop:1, wildcard:1, ipv6only:1, reuseport:1, add_reuseport:1, keepalive:2;
	?>1.25.0 unsigned quic:1;
	unsigned deferred_accept:1, delete_deferred:1, add_deferred:1; int fastopen;
};
struct ngx_bufs_s {
	ngx_int_t num; size_t size;
};
struct ngx_event_pipe_s {
	ngx_connection_t *upstream, *downstream; ngx_chain_t *free_raw_bufs, *in, **last_in, *writing, *out, *free, *busy;
	ngx_pt input_filter; void *input_ctx; ngx_pt output_filter; void *output_ctx;
	?threads ngx_pt thread_handler; void *thread_ctx, *thread_task;
	unsigned read:1, cacheable:1, single_buf:1, free_bufs:1, upstream_done:1, upstream_error:1, upstream_eof:1,
	upstream_blocked:1, downstream_done:1, downstream_error:1, cyclic_temp_file:1, aio:1; ngx_int_t allocated; ngx_bufs_t
	bufs; void *tag; ssize_t busy_size; off_t read_length, length, max_temp_file_size; ssize_t temp_file_write_size;
	ngx_msec_t read_timeout, send_timeout; ssize_t send_lowat; ngx_pool_t *pool; ngx_log_t *log; ngx_chain_t
	*preread_bufs; size_t preread_size; ngx_buf_t *buf_to_file; size_t limit_rate; time_t start_sec; void *temp_file; int num;
};
union ngx_sockaddr_s {
	u_char sockaddr[16]; uint32_t sockaddr_in[4]; u_char sockaddr_in6[28], sockaddr_un[110];
};
struct ngx_ssl_sess_id_s {
	ngx_rbtree_node_t node;
	?<1.23.2 u_char *id;
	size_t len;
	?<1.23.2 u_char *session;
	ngx_queue_t queue; time_t expire;
	?<1.23.2 void *stub; u_char sess_id[32];
	?>1.23.2 u_char id[32], *session;
};
struct ngx_ssl_ticket_key_s {
	u_char name[16], hmac_key[32], aes_key[32]; time_t expire; unsigned size:8, shared:1;
};
struct ngx_ssl_session_cache_s {
	ngx_rbtree_t session_rbtree; ngx_rbtree_node_t sentinel; ngx_queue_t expire_queue;
	?>1.23.2 ngx_ssl_ticket_key_t ticket_keys[3]; time_t fail_time;
};
struct ngx_path_s {
	ngx_str_t name; size_t len, level[3]; ngx_pt manager, purger, loader; void *data; u_char *conf_file; ngx_uint_t line;
};
struct ngx_shmtx_sh_s {
	ngx_atomic_t lock, wait;
};
struct ngx_slab_page_s {
	uintptr_t slab; ngx_slab_page_t *next; uintptr_t prev;
};
struct ngx_shmtx_s {
	ngx_atomic_t *lock, *wait; ngx_uint_t semaphore; u_char sem[32]; ngx_uint_t spin;
};
struct ngx_slab_pool_s {
	ngx_shmtx_sh_t lock; size_t min_size, min_shift; ngx_slab_page_t *pages, *last, free; ngx_slab_stat_t *stats;
	ngx_uint_t pfree; u_char *start, *end; ngx_shmtx_t mutex; u_char *log_ctx, zero; unsigned log_nomem:1; void *data,
	*addr;
};
struct ngx_slab_stat_s {
	ngx_uint_t total, used, reqs, fails;
};
struct ngx_conf_dump_s {
	ngx_str_t name; ngx_buf_t *buffer;
};
struct ngx_hash_elt_s {
	void *value; u_short len; u_char name[1];
};
struct ngx_hash_combined_s {
	ngx_hash_t hash; void *wc_head, *wc_tail;
};
struct ngx_list_part_s {
	void *elts; ngx_uint_t nelts; ngx_list_part_t *next;
};
struct ngx_list_s {
	ngx_list_part_t *last, part; size_t size; ngx_uint_t nalloc; ngx_pool_t *pool;
};
struct ngx_table_elt_s {
	ngx_uint_t hash; ngx_str_t key, value; u_char *lowcase_key;
	?>1.23.0 ngx_table_elt_t *next;
};
struct ngx_output_chain_ctx_s {
	ngx_buf_t *buf; ngx_chain_t *in, *free, *busy; unsigned sendfile:1, directio:1, unaligned:1, need_in_memory:1,
	need_in_temp:1, aio:1;
	?aio ngx_pt aio_handler;
	?<1.21.4&aio ngx_pt aio_preload;
	?threads ngx_pt thread_handler; void *thread_task;
	off_t alignment; ngx_pool_t *pool; ngx_int_t allocated; ngx_bufs_t bufs; void *tag; ngx_pt output_filter; void
	*filter_ctx;
};
struct ngx_chain_writer_ctx_s {
	ngx_chain_t *out, **last; ngx_connection_t *connection; ngx_pool_t *pool; off_t limit;
};
struct ngx_process_s {
	ngx_pid_t pid; int status; ngx_socket_t channel[2]; ngx_pt proc; void *data; u_char *name; unsigned respawn:1,
	just_spawn:1, detached:1, exiting:1, exited:1;
};
struct ngx_time_s {
	time_t sec; ngx_uint_t msec; ngx_int_t gmtoff;
};
struct ngx_module_s {
	ngx_uint_t ctx_index, index; u_char *name; ngx_uint_t spare0, spare1, version; u_char *signature; void *ctx,
	*commands; ngx_uint_t type; ngx_pt init_master, init_module, init_process, init_thread, exit_thread, exit_process,
	exit_master; uintptr_t spare_hook0, spare_hook1, spare_hook2, spare_hook3, spare_hook4, spare_hook5, spare_hook6,
	spare_hook7;
};
struct ngx_cycle_s {
	void **conf_ctx; ngx_pool_t *pool; ngx_log_t *log, new_log; ngx_uint_t log_use_stderr; ngx_connection_t **files,
	*free_connections; ngx_uint_t free_connection_n; ngx_module_t **modules; ngx_uint_t modules_n, modules_used;
	ngx_queue_t reusable_connections_queue; ngx_uint_t reusable_connections_n;
	?>1.19.3 time_t connections_reuse_time;
	ngx_array_t listening, paths, config_dump; ngx_rbtree_t config_dump_rbtree; ngx_rbtree_node_t config_dump_sentinel;
	ngx_list_t open_files, shared_memory; ngx_uint_t connection_n, files_n; ngx_connection_t *connections; ngx_event_t
	*read_events, *write_events; ngx_cycle_t *old_cycle; ngx_str_t conf_file, conf_param, conf_prefix, prefix;
	?>1.19.5 ngx_str_t error_log;
	ngx_str_t lock_file, hostname;
};
]]
