/* anomaly.h - what schedules are judged by, by name: properties from textbooks; the phenomena P0 to A5B of Berenson et
 * al., "A Critique of ANSI SQL Isolation Levels" (SIGMOD 1995), and the anomalies G0 to G2 of Adya, Liskov, O'Neil,
 * "Generalized Isolation Level Definitions" (ICDE 2000), with words and an example for the manual. */
#ifndef CCSIM_CHECK_ANOMALY_H
#define CCSIM_CHECK_ANOMALY_H

enum anomaly_name {
    ANOMALY_P0,
    ANOMALY_P1,
    ANOMALY_P2,
    ANOMALY_P3,
    ANOMALY_P4,
    ANOMALY_A5A,
    ANOMALY_A5B,
    ANOMALY_G0, /* the first of Adya's */
    ANOMALY_G1A,
    ANOMALY_G1B,
    ANOMALY_G1C,
    ANOMALY_G_SINGLE,
    ANOMALY_G2_ITEM,
    ANOMALY_G2,
    ANOMALY_COUNT
};

struct anomaly_text {
    const char *name;      /* "G-single" */
    const char *title;     /* "dirty write": two or three words */
    const char *paragraph; /* what it is, why it hurts, what rules it out */
    const char *example;   /* a schedule that has it */
};
extern const struct anomaly_text anomaly_texts[ANOMALY_COUNT];

/* "conflict-serializable" to "rigorous", in the order of enum judge_property. Bernstein, Hadzilacos, Goodman,
 * "Concurrency Control and Recovery in Database Systems" (1987). */
extern const struct anomaly_text property_texts[];
extern const unsigned property_text_count;

#endif
