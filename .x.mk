include Makefile
allcu: $(CU_OBJ)
