/* sections.h - a workload that is written in a config, made from a text in a test: lines `[section]` and `key = value`. */
#ifndef CCSIM_TESTS_SUPPORT_SECTIONS_H
#define CCSIM_TESTS_SUPPORT_SECTIONS_H

#include "workloads/workload.h"

/* Fills the options, to be freed with ops->discard; a mistake in the text fails the test. */
void sections_compile(const struct workload_ops *ops, void *options, const char *text);

#endif
