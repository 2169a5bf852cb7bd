# Other programs strike between two steps of a run in place, and its record cannot be written: the test stands
# in between.
$(B)/tests/test_in_place: LDFLAGS += \
  -Wl,--wrap=lap_sink_publish,--wrap=lap_record_add,--wrap=lap_record_judge,--wrap=lap_source_result \
  -Wl,--wrap=lap_executor_warning,--wrap=lap_source_open,--wrap=lap_known_in_place,--wrap=getrlimit
# File systems without links, and other programs that are faster.
BACKUP_CALLS := linkat faccessat fstatat read lap_sync_names lap_sink_publish
$(B)/tests/test_in_place_backup: LDFLAGS += $(BACKUP_CALLS:%=-Wl,--wrap=%)
# System calls that fail around the record of photos in place.
RECORD_CALLS := openat close fstat pread write fdatasync fsync syncfs faccessat asprintf __asprintf_chk lap_grow \
  lap_map64_put lap_content_hash
$(B)/tests/test_in_place_record: LDFLAGS += $(RECORD_CALLS:%=-Wl,--wrap=%)
# Whose records a walk reads, when, and which of them cannot be read.
OUTPUTS_CALLS := lap_known_runs lap_known_in_place lap_known_judge lap_map64_put lap_grow strdup open time
$(B)/tests/test_outputs: LDFLAGS += $(OUTPUTS_CALLS:%=-Wl,--wrap=%)
# System calls that fail around the files of the manifest.
MANIFEST_CALLS := gethostname mkdirat openat write ftruncate fsync fdatasync syncfs fstatat fstat pread strdup \
  scandirat clock_gettime
$(B)/tests/test_manifest_files: LDFLAGS += $(MANIFEST_CALLS:%=-Wl,--wrap=%)
# Records above and below that cannot be read, and the time when a run began.
PLACES_CALLS := open realpath lap_tree_enter scandirat asprintf __asprintf_chk lap_grow lap_map64_put clock_gettime \
  lap_content_hash lap_tree_is_spelt
$(B)/tests/test_manifest_places: LDFLAGS += $(PLACES_CALLS:%=-Wl,--wrap=%)
# Memory that runs out in the middle of a line.
$(B)/tests/test_manifest_line: LDFLAGS += -Wl,--wrap=lap_grow
# Records that cannot be read, and how many contents are read.
KNOWN_CALLS := openat fstat fdopendir readdir lap_map64_put lap_content_hash lap_content_hash_path
$(B)/tests/test_known: LDFLAGS += $(KNOWN_CALLS:%=-Wl,--wrap=%)
# What the records say about a file, and names that cannot be examined.
JUDGE_CALLS := lap_manifest_judge lap_manifest_done lap_manifest_flush lap_tree_enter lap_tree_leave fstatat
$(B)/tests/test_batch_judge: LDFLAGS += $(JUDGE_CALLS:%=-Wl,--wrap=%)
# A walk that the test makes up, and what cannot be examined.
LOOK_CALLS := lap_walk lap_batch_small lap_prune_note lap_late_note lap_grow calloc lap_map64_put lap_real_name \
  lap_side_look stat
$(B)/tests/test_batch_look: LDFLAGS += $(LOOK_CALLS:%=-Wl,--wrap=%)
# Folders that cannot be examined, and memory that runs out.
ORIGIN_CALLS := realpath stat lap_grow strdup strndup calloc free lap_map64_put
$(B)/tests/test_origin: LDFLAGS += $(ORIGIN_CALLS:%=-Wl,--wrap=%)
# System calls that fail around a list, and memory that runs out.
LIST_CALLS := open fstat read pread malloc calloc lap_grow lap_await_readable
$(B)/tests/test_list: LDFLAGS += $(LIST_CALLS:%=-Wl,--wrap=%)
# What the manifest and the file system say to a group of outputs.
GROUP_CALLS := lap_now_ms syncfs lap_manifest_begin lap_manifest_done lap_manifest_flush lap_manifest_judge \
  lap_content_hash lap_sink_publish
$(B)/tests/test_group: LDFLAGS += $(GROUP_CALLS:%=-Wl,--wrap=%)
# A clock that the test sets.
$(B)/tests/test_jobs: LDFLAGS += -Wl,--wrap=lap_now_ms
# A clock that the test sets, memory that runs out, and a file that is not written.
$(B)/tests/test_trace: LDFLAGS += -Wl,--wrap=lap_now_ms,--wrap=lap_grow,--wrap=lap_side_write
# Records of the test's own, and folders that cannot be examined.
PRUNE_CALLS := $(addprefix lap_manifest_,each each_begun each_other look_below look_above watch has_news is_blind unbelieved) \
  stat lstat opendir readdir unlinkat fstatat getcwd calloc strdup lap_content_hash lap_control_check lap_map64_put
$(B)/tests/test_prune: LDFLAGS += $(PRUNE_CALLS:%=-Wl,--wrap=%)
# Runs that the test stands in for, and threads, memory and limits that are missing.
EXECUTOR_CALLS := calloc getrlimit $(addprefix pthread_,cond_signal mutex_lock mutex_unlock) \
  $(addprefix lap_,sink_lost sink_close content_hash_path \
  run_to_sink measure_to trace_thread pool_submit condition_init)
$(B)/tests/test_executor: LDFLAGS += $(EXECUTOR_CALLS:%=-Wl,--wrap=%)
# Devices and threads that do what the test says, when it says so.
POOL_CALLS := calloc $(addprefix pthread_,create detach join mutex_lock mutex_unlock cond_signal cond_wait cond_timedwait) \
  $(addprefix lap_,now_ms pool_submit executor_free batch_files_beside job_look_again job_describe) \
  $(addprefix lap_device_,count pins open may_be to_start codec_unavailable) $(addprefix lap_trace_,add thread stages) \
  $(addprefix lap_device_staging_,create destroy abandon pin is_pinned is_done go_together) \
  $(addprefix lap_device_slot_,create destroy abandon needs chain_needs room resize start is_through times) \
  $(addprefix lap_async_run_,load restart store measure close) \
  lap_executor_devices lap_rung_find lap_rung_fastest_on_device lap_params_tolerance
$(B)/tests/test_device_pool: LDFLAGS += $(POOL_CALLS:%=-Wl,--wrap=%)
# Threads that cannot be created, and each step of a run that fails.
BATCH_CALLS := pthread_create strdup $(addprefix lap_, \
  settings_check run_check_backend list_open prune_create batch_check_operands batch_look batch_around \
  tree_open group_open manifest_open jobs_open trace_create group_settle prune_outputs trace_write \
  batch_make_out_dir batch_foresee_folder batch_output_name batch_check_format batch_sweep_folder \
  origins_find batch_make_folder source_open late_look group_publish jobs_submit)
$(B)/tests/test_batch: LDFLAGS += $(BATCH_CALLS:%=-Wl,--wrap=%)
# Clocks that go by steps, one a look; memory that runs out, and coders that give something else.
ROWS_CALLS := calloc malloc $(addprefix lap_,now_ms bench_cpu_ms decoder_rows encoder_start encoder_band)
$(B)/tests/test_bench_rows: LDFLAGS += $(ROWS_CALLS:%=-Wl,--wrap=%)
# A device that is host memory.
BENCH_CALLS := $(addprefix lap_cuda_,alloc free copy sync view_create view_destroy upload download border time rotation \
  scratch_bytes copy_kernel copy_shared) $(addprefix lap_rung_,walk filter transpose reduce histogram matvec) \
  $(addprefix lap_bench_,memcpy peak)
$(B)/tests/test_bench_device: LDFLAGS += $(BENCH_CALLS:%=-Wl,--wrap=%)
# Rates of a device that the test makes up, and memory that runs out.
CODEC_CALLS := calloc malloc \
  $(addprefix lap_,now_ms bench_peak bench_memcpy cuda_unavailable device_codec_unavailable rung_find) \
  $(addprefix lap_bench_rates_,create destroy bytes time spoil compare)
$(B)/tests/test_bench_codec: LDFLAGS += $(CODEC_CALLS:%=-Wl,--wrap=%)
# A clock that the test sets, memory that runs out, and the device that is started.
COMPARE_CALLS := lap_now_ms malloc lap_image_create lap_rung_start_device
$(B)/tests/test_compare: LDFLAGS += $(COMPARE_CALLS:%=-Wl,--wrap=%)
# Maps that the test checks in memory.
$(B)/tests/test_heatmap: LDFLAGS += -Wl,--wrap=lap_png_palette_write
# A device that is host memory.
DEVICE_CALLS := $(addprefix lap_cuda_,stream_create stream_destroy event_create event_destroy event_record event_ms \
  alloc free copy sync view_create view_destroy upload download view_copy check_place border)
$(B)/tests/test_run_rung: LDFLAGS += $(DEVICE_CALLS:%=-Wl,--wrap=%)
# All that a photo needs of a device.
ALL_DEVICE_CALLS := calloc $(addprefix pthread_,mutex_lock mutex_unlock cond_wait cond_broadcast) lap_rung_find_on_device \
  lap_device_possible lap_jpeg_frame_read lap_known_decoding_differs \
  lap_known_encoding_differs $(addprefix lap_cuda_,stream_create stream_destroy event_create event_destroy event_record \
  event_happened event_ms alloc free pinned_alloc pinned_free pin unpin copy clear sync view_bytes view_in upload \
  download view_copy mirror border check_place scratch_bytes range_begin range_end unavailable count kept_begin kept_end \
  view_take view_give info to_start may_pin \
  $(addprefix jpeg_,decode_plan decode_stage_tables decode_enqueue encode_plan_make encode_enqueue encode_scan))
$(B)/tests/test_device: LDFLAGS += $(ALL_DEVICE_CALLS:%=-Wl,--wrap=%)
# How many pointers are freed.
$(B)/tests/test_frees: LDFLAGS += -Wl,--wrap=free
# How many whole images a call makes.
$(B)/tests/test_pixels: LDFLAGS += -Wl,--wrap=lap_image_create
# A clock that counts how often it is read.
$(B)/tests/test_times: LDFLAGS += -Wl,--wrap=lap_now_ms
# System calls that fail, write less or answer late, and a clock that stands still between them.
SINK_CALLS := write fsync fstat fchown fchmod fsetxattr lgetxattr futimens close poll open access umask fopen fclose \
  strdup lap_now_ms XXH3_createState XXH3_64bits_reset pthread_mutex_lock pthread_mutex_unlock
$(B)/tests/test_sink_faults: LDFLAGS += $(SINK_CALLS:%=-Wl,--wrap=%)
# A simulated file system, with or without access control lists.
ACL_CALLS := fgetxattr lgetxattr fsetxattr fchmod openat malloc free
$(B)/tests/test_acl: LDFLAGS += $(ACL_CALLS:%=-Wl,--wrap=%)
# Files that cannot be read, or change meanwhile, and memory that runs out.
CONTENT_CALLS := openat __openat_2 close fstat fstatat read malloc free XXH3_createState XXH3_freeState \
  XXH3_64bits_reset
$(B)/tests/test_content: LDFLAGS += $(CONTENT_CALLS:%=-Wl,--wrap=%)
# A clock that advances in steps, and what source and sink report about a simulated photo.
REPORT_CALLS := lap_now_ms lap_source_ms lap_sink_ms lap_sink_opening_ms lap_sink_lost lap_sink_finish
$(B)/tests/test_report: LDFLAGS += $(REPORT_CALLS:%=-Wl,--wrap=%)
# Events between the steps of a run: sweeps, names that appear, other libraries, and a clock that jumps ahead.
RUN_CALLS := lap_sink_sweep lap_now_ms lap_sink_publish lap_libraries_check
$(B)/tests/test_run: LDFLAGS += $(RUN_CALLS:%=-Wl,--wrap=%)
# Simulated inputs: interrupted, short, late and failing reads, and how memory grows.
SOURCE_CALLS := open fstat stat read pread poll close calloc lap_pages_resize lap_now_ms
$(B)/tests/test_source: LDFLAGS += $(SOURCE_CALLS:%=-Wl,--wrap=%)
# Counts the images that are created, and signals when a thread leaves a team.
BANDS_CALLS := lap_image_create lap_pool_team
$(B)/tests/test_bands: LDFLAGS += $(BANDS_CALLS:%=-Wl,--wrap=%)
# A clock that advances in steps, memory that runs out, two threads that run one after the other, and an encoder.
COLLECT_CALLS := lap_now_ms calloc lap_pool_team lap_encoder_open
$(B)/tests/test_collect: LDFLAGS += $(COLLECT_CALLS:%=-Wl,--wrap=%)
# A simulated device, and the calls that can fail while it processes a photo.
PHOTO_DEVICE_CALLS := $(addprefix lap_device_,slot_create slot_destroy slot_run slot_scan slot_pixels \
  $(addprefix staging_,create destroy lend file plan has_source has_scan)) lap_jpeg_head_make lap_photo_collect \
  lap_sink_reserve lap_sink_write lap_source_hold lap_input_look lap_rung_start_device lap_plan_settings \
  lap_photo_open lap_now_ms lap_source_ms pthread_create pthread_join
$(B)/tests/test_photo_device: LDFLAGS += $(PHOTO_DEVICE_CALLS:%=-Wl,--wrap=%)
# The same for photos on a stream.
STREAM_CALLS := $(addprefix lap_device_,slot_needs slot_chain_needs slot_run slot_run_chain slot_scan codec_choose \
  $(addprefix staging_,create lend copy plan has_source has_scan)) $(addprefix lap_stream_,check copy wait \
  view_create view_destroy lane_take lane_give lanes_free) lap_rung_find_on_device lap_pool_team lap_now_ms calloc \
  pthread_mutex_trylock lap_views_run_filter lap_count_on_device
$(B)/tests/test_stream: LDFLAGS += $(STREAM_CALLS:%=-Wl,--wrap=%)
# The calls that tell which process made a temporary file.
TEMP_CALLS := open openat kill gethostname readlink getrandom clock time poll fdopendir unlinkat strdup
$(B)/tests/test_sink_temp: LDFLAGS += $(TEMP_CALLS:%=-Wl,--wrap=%)
# File systems of all kinds, where an output gets its name.
TARGET_CALLS := renameat2 linkat renameat fstatat fstatfs openat fdopendir
$(B)/tests/test_target: LDFLAGS += $(TARGET_CALLS:%=-Wl,--wrap=%)
# The program without its main, in which calls fail around a log, and nobody waits for the reader of a FIFO.
SIDES_CALLS := open stat fstat fcntl ftruncate close lap_cli_write lap_json_dump lap_term_reader_left \
  lap_side_await_reader
$(B)/tests/test_sides: LDFLAGS += $(SIDES_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_sides: $(FUZZ_PROGRAM)
# The program without its main: command lines on machines of any memory, and operands that cannot be examined.
OPTIONS_CALLS := open stat read close lap_memory_here
$(B)/tests/test_options: LDFLAGS += $(OPTIONS_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_options: $(FUZZ_PROGRAM)
# The contact sheet of a report, whose page is not written, and whose pictures are not encoded.
SHEET_CALLS := strdup lap_report_create lap_report_add_results lap_report_write lap_pnm_of lap_data_uri \
  lap_pixels_read
$(B)/tests/test_sheet: LDFLAGS += $(SHEET_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_sheet: $(FUZZ_PROGRAM)
# A clock and a terminal that the test sets.
PROGRESS_CALLS := lap_term_may_draw lap_cli_now_ms lap_term_error_width
$(B)/tests/test_progress: LDFLAGS += $(PROGRESS_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_progress: $(FUZZ_PROGRAM)
# A simulated terminal and pipe, a clock, signals and devices.
TERM_CALLS := lap_cli_caught lap_device_at clock_gettime poll fcntl ioctl isatty fstat write vasprintf __vasprintf_chk \
  open_memstream fopencookie setvbuf
$(B)/tests/test_term: LDFLAGS += $(TERM_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_term: $(FUZZ_PROGRAM)
# Memory that runs out, and files that are not written.
JSON_CALLS := malloc realloc lap_side_write lap_cli_flush
$(B)/tests/test_json: LDFLAGS += $(JSON_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_json: $(FUZZ_PROGRAM)
# A terminal, a processor, backends and devices of the test's own.
FIGURES_CALLS := lap_term_width lap_cli_caught lap_build_info fopen lap_device_at lap_rung_at isatty \
  nl_langinfo lap_side_write
$(B)/tests/test_figures: LDFLAGS += $(FIGURES_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_figures: $(FUZZ_PROGRAM)
# Rows, reports and files of the test's own for compare, bench and info.
COMMANDS_CALLS := time getrlimit $(addprefix lap_,cli_caught cli_now_ms cli_flush usable_cores cpu_name build_info device_text \
  rung_at pixels_note pixels_warn report_create report_add_results report_add_row report_add_pair report_add_file \
  report_write compare heatmap_write inputs bench info_dropped coder_at device_at context_create memory_here \
  libraries_check term_width)
$(B)/tests/test_commands: LDFLAGS += $(COMMANDS_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_commands: $(FUZZ_PROGRAM)
# Runs over folders and in place that the test makes up, a progress line, and what is written of them.
FOLDER_CALLS := $(addprefix lap_,batch batch_in_place context_cancel shard_local stats_write json_print \
  $(addprefix cli_,begin end has_lost_worker caught told_cancel flush warn_of_devices print_photo) term_reader_left \
  $(addprefix progress_,begin files hide) $(addprefix sheet_,create free add_file write))
FOLDER_TESTS := $(addprefix $(B)/tests/test_,folder run_folder run_in_place)
$(FOLDER_TESTS): LDFLAGS += $(FOLDER_CALLS:%=-Wl,--wrap=%)
$(FOLDER_TESTS): $(FUZZ_PROGRAM)
# The same for stats and diff, whose objects are printed.
STATS_DIFF_CALLS := $(filter-out lap_json_print,$(FOLDER_CALLS)) lap_sheet_add_pair lap_measure_batch lap_compare_folders
$(B)/tests/test_stats_diff: LDFLAGS += $(STATS_DIFF_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_stats_diff: $(FUZZ_PROGRAM)
# Processes, devices and a list on standard input that the test makes up.
WORKER_CALLS := fork getpid getppid prctl mmap munmap waitpid sigqueue sigaction exit _exit read lseek dup2 \
  memfd_create lap_device_possible lap_term_may_draw lap_cli_write
$(B)/tests/test_worker: LDFLAGS += $(WORKER_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_worker: $(FUZZ_PROGRAM)
# A clock that the test sets, and what a signal does.
SIGNALS_CALLS := raise $(addprefix lap_,params_tolerance abandon_outputs context_create context_destroy context_cancel \
  cli_now_ms cli_sandbox cli_reads_inside cli_read_kernel)
$(B)/tests/test_signals: LDFLAGS += $(SIGNALS_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_signals: $(FUZZ_PROGRAM)
# One run that the test makes up, and what is written of it.
RUN_ONE_CALLS := isatty $(addprefix lap_,run_file run_check bytes_after_end stats_write measure_report measurement_free \
  context_threads json_print term_reader_left $(addprefix cli_,begin end caught now_ms) progress_begin progress_hide \
  $(addprefix report_,create add_results add_file write))
$(B)/tests/test_run_one: LDFLAGS += $(RUN_ONE_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_run_one: $(FUZZ_PROGRAM)
# A kernel with Landlock.
LANDLOCK_CALLS := syscall prctl opendir access mkdir fstat $(addprefix lap_sandbox_,allow keep limit_calls)
$(B)/tests/test_sandbox: LDFLAGS += $(LANDLOCK_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_sandbox: $(FUZZ_PROGRAM)
# A kernel with seccomp, and a process that sets modes and times.
SECCOMP_CALLS := syscall fstat socketpair fork atexit sigaction sigprocmask fchown fsetxattr _exit
$(B)/tests/test_sandbox_calls: LDFLAGS += $(SECCOMP_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_sandbox_calls: $(FUZZ_PROGRAM)
# Encoders, a machine and a file of the test's own for the page of a report.
GALLERY_CALLS := time $(addprefix lap_,cpu_name build_info device_text side_write data_uri run_memory)
$(B)/tests/test_gallery: LDFLAGS += $(GALLERY_CALLS:%=-Wl,--wrap=%)
$(B)/tests/test_gallery: $(FUZZ_PROGRAM)
$(B)/tests/test_side: LDFLAGS += -Wl,--wrap=fsync

# Decoding by parts at all sizes to 70x70 and every sampling (minutes); make check has a covering sample.
.PHONY: test-long-parts
test-long-parts: $(B)/tests/test_parts
	PARTS_FULL=1 $(B)/tests/test_parts
test-long: test-long-parts
