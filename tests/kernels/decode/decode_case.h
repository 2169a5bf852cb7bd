/* Makes JPEG files for decoders, and decodes files with libjpeg-turbo. */
#ifndef DECODE_CASE_H
#define DECODE_CASE_H

#include "../encode/encode_case.h"

typedef enum decode_tables { STANDARD_TABLES, OPTIMIZED_TABLES, TABLES_BY_CHANCE, TABLE_KINDS } decode_tables;
typedef enum decode_values {
    VALUES_OF_PIXELS,
    VALUES_BY_CHANCE,
    VALUES_AT_LIMITS,
    VALUE_KINDS
} decode_values;

/* The scans of a file. */
typedef enum decode_script {
    ONE_SCAN,        /* sequential */
    USUAL_SCANS,     /* what jpegtran -progressive writes */
    SPECTRAL_SCANS,  /* bands, each with all bits */
    DEEP_SCANS,      /* one bit per scan */
    APART_SCANS,     /* no scan has two components */
    TURNED_SCANS,    /* the last component comes first, luma last */
    SCANS_BY_CHANCE, /* any legal order */
    COMPLETE_SCRIPTS,
    UNFINISHED_SCANS = COMPLETE_SCRIPTS, /* the last bit of some coefficient is missing */
    SCRIPTS
} decode_script;

/* The components of a file; the first is luma, red or cyan. */
typedef enum decode_colours {
    USUAL_COLOURS, /* gray, or YCbCr with JFIF's segment */
    YCC_BY_ADOBE,
    YCC_BY_NOTHING,
    RGB_BY_ADOBE,
    RGB_BY_NAMES,
    CMYK_OF_ADOBE, /* 255 means no ink */
    CMYK_PLAIN,
    YCCK_OF_ADOBE,
    OUR_COLOURS,
    ODD_RGB = OUR_COLOURS, /* libjpeg warns of what Adobe's segment says */
    ODD_INKS,
    COLOURS
} decode_colours;

typedef struct decode_case {
    encode_case picture; /* interval_rows is ignored; inks have 4 channels */
    decode_tables tables;
    decode_values values;
    int interval;    /* MCUs between restart markers, 0: none */
    bool wide_quant; /* quantisers of 16 bits */
    decode_script script;
    decode_colours colours; /* of a sampling that is not gray */
} decode_case;

/* Of the same picture. */
void decode_set_colours(decode_case *c, decode_colours colours);
void decode_describe(const decode_case *c, char text[300]);
/* malloc'ed. */
uint8_t *decode_file(const decode_case *c, size_t *size);

typedef struct decode_reference {
    int width, height, channels;
    int rows; /* decoded before an error; 0: the header is refused */
    long warnings;
    bool failed;
    uint8_t *pixels; /* rows of width * channels bytes, malloc'ed */
} decode_reference;
/* Decodes with libjpeg-turbo, which may warn; converts inks to pixels by the formula. */
void decode_by_library(const uint8_t *file, size_t size, bool gray, decode_reference *reference);

#endif
