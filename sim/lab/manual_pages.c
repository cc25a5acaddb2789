/* manual_pages.c - docs/OPTIONS.md and docs/METRICS.md, printed from the tables (manual.h). */
#include <string.h>

#include "sim/lab/manual.h"
#include "sim/lab/metrics.h"
#include "sim/store/level.h"
#include "sim/store/reason.h"

/* A cell of a Markdown table: its bars must be escaped. */
static void add_cell(const char *cell, struct text *out) {
    for (; *cell != '\0'; cell++) {
        text_add(out, *cell == '|' ? "\\|" : "%c", *cell);
    }
}

static void add_option_row(const struct option *option, struct text *out) {
    struct text cell = {0};
    text_add(out, "| `%s` | ", option->name);
    option_type_name(option, &cell);
    add_cell(text_string(&cell), out);
    text_clear(&cell);
    bool has_default = (option->flags & (OPTION_REQUIRED | OPTION_OPTIONAL)) == 0;
    const char *prefix = has_default ? "" : (option->flags & OPTION_REQUIRED) != 0 ? "required: " : "none: ";
    text_add(out, " | %s`%s` | ", prefix, option->fallback);
    add_cell(option->help, out);
    text_add(out, " |\n");
    text_free(&cell);
}

static void add_option_table(const struct option_table *table, struct text *out) {
    if (table == NULL) {
        text_add(out, "No options.\n");
        return;
    }
    text_add(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < table->count; i++) {
        add_option_row(&table->options[i], out);
    }
}

static void add_sections(struct text *out) {
    for (size_t i = 0; i < catalog_section_count; i++) {
        const struct catalog_section *section = &catalog_sections[i];
        text_add(out, "\n## [%s]\n\n%s\n", section->name, section->help);
        if (section->options != NULL) {
            text_add(out, "\n");
            add_option_table(section->options, out);
        }
    }
    text_add(
        out,
        "\n"
        "A list has its values between blanks; a range is `1..128 *2` or `0..1 +0.1`, with units where its values\n"
        "have some (`10ms..50ms +10ms`). `zip = KEY KEY` steps axes together instead of crossing them.\n");
}

static void add_own_sections(const struct workload_section *section, struct text *out) {
    text_add(out, "Written in sections of its own, see docs/MIX.md.\n");
    for (; section->name != NULL; section++) {
        text_add(out, "\n### [%s]\n\n%s\n\n", manual_section_title(section), section->help);
        add_option_table(section->options, out);
    }
}

static void add_workloads(struct text *out) {
    for (size_t i = 0; i < workload_registry_count; i++) {
        const struct workload_ops *ops = workload_registry[i];
        text_add(out, "\n## [workload] name = %s\n\n%s\n\n", ops->name, ops->summary);
        if (ops->sections == NULL) {
            add_option_table(ops->options, out);
        } else {
            add_own_sections(ops->sections, out);
        }
    }
}

static void add_algorithms(struct text *out) {
    for (size_t i = 0; i < cc_registry_count; i++) {
        const struct cc_ops *ops = cc_registry[i];
        text_add(out, "\n## [%s]\n\n%s; promises %s.", ops->name, ops->summary, level_names[ops->level]);
        text_add(out, (ops->flags & CC_RESTART_ADAPTIVE) != 0 ? " Its `restart.delay` is `adaptive` unless given.\n\n"
                                                              : "\n\n");
        add_option_table(ops->options, out);
    }
}

void manual_options_markdown(struct text *out) {
    text_add(out,
             "# Options\n\n"
             "Printed by `ccsim help --options-markdown`. A key is written `section.key` on the command line and in\n"
             "`[sweep]`. Durations carry a unit (`ns us ms s min h`) and may be distributions where it says so:\n"
             "`exp(1ms)`, `uniform(1ms, 3ms)`, `erlang(4, 1ms)`, `lognormal(1ms, 0.8)` (mean, coefficient of\n"
             "variation). Where a default is said to be none or required, an example stands in its place.\n");
    add_sections(out);
    text_add(out, "\n## [figure NAME]\n\n");
    add_option_table(&figure_options, out);
    text_add(
        out,
        "\n## [algorithm NAME]\n\n"
        "A variant: its own name in the results, the rules of another algorithm, other options. Like the sections\n"
        "of the algorithms below it takes the algorithm's own options, and any key of `[system]`, `[cost]`,\n"
        "`[restart]` and `[workload]` by its full name (`restart.delay = adaptive`), for that algorithm alone.\n\n");
    add_option_table(&variant_head_options, out);
    text_add(out, "\n# Workloads\n");
    add_workloads(out);
    text_add(out, "\n# Algorithms\n");
    add_algorithms(out);
}

static void add_by_type(const struct metric *metrics, size_t count, struct text *out) {
    text_add(
        out,
        "\n## By type of transaction\n\n"
        "Where a workload has several types of transaction (`bank` with audits, `mix`), types.csv has one row for\n"
        "each type of each run: the columns of runs.csv up to `sim_seconds`, then `type`, its name, then, counted\n"
        "for its transactions alone,");
    const char *separator = " ";
    for (size_t i = 0; i < count; i++) {
        if (metrics[i].by_type) {
            text_add(out, "%s`%s`", separator, metrics[i].name);
            separator = ",\n";
        }
    }
    text_add(out, ".\n");
}

void manual_metrics_markdown(struct text *out) {
    size_t count;
    const struct metric *metrics = metrics_all(&count);
    text_add(
        out,
        "# Metrics\n\n"
        "Printed by `ccsim help --metrics-markdown`. The columns of runs.csv, behind `algorithm`, `workload`, the\n"
        "axes of the sweep, `replication`, `seed` and `sim_seconds`; all count from the end of the warm-up on.\n"
        "summary.csv has each one's mean over the replications and, as `<metric>_ci95`, the half-width of its\n"
        "95%% confidence interval. A value that is not defined, such as a percentile of nothing, is empty.\n\n"
        "| column | unit | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        text_add(out, "| `%s` | %s | ", metrics[i].name, metrics[i].unit);
        add_cell(metrics[i].help, out);
        text_add(out, " |\n");
    }
    text_add(out, "| `audit` | | the workload's invariant: ok, broken, or empty where there is none |\n"
                  "| `digest` | | hash of every outcome in order: two runs are the same if and only if it is |\n");
    add_by_type(metrics, count, out);
    text_add(out, "\n## Reasons of aborts\n\n| reason | meaning |\n|---|---|\n");
    for (size_t i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        text_add(out, "| `%s` | %s |\n", reason_texts[i].name, reason_texts[i].sentence);
    }
    text_add(out, "\n## Anomalies\n\n| anomaly | meaning |\n|---|---|\n");
    for (size_t i = 0; i < manual_anomaly_count; i++) {
        text_add(out, "| `%s` | %s |\n", manual_anomalies[i].name, manual_anomalies[i].sentence);
    }
}
