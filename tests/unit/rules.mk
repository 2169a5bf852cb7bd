# Other programs strike between two steps of a run in place, and its record cannot be written: the test stands
# in between.
$(B)/tests/test_in_place: LDFLAGS += \
  -Wl,--wrap=lap_sink_publish,--wrap=lap_record_add,--wrap=lap_record_judge
