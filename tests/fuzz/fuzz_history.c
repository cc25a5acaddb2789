/* fuzz_history.c - the reader of history files, and the certifier behind it, against arbitrary bytes. What does not
 * begin as
 * a history does gets a beginning, so that few inputs are wasted. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/text.h"
#include "sim/check/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct text text = {0}, error = {0};
    enum certifier_level level = size > 0 ? (enum certifier_level)(bytes[0] % CERTIFIER_LEVELS) : CERTIFIER_SER;
    text_add(&text, "%s\nlevel SER\n", recording_magic);
    text_add_bytes(&text, (const char *)bytes, size);
    FILE *file = fmemopen(text.bytes, text.length, "r");
    if (file != NULL) {
        struct recording_verdict verdict;
        certifier_judge_history(file, "fuzz", level, &verdict, &error);
        recording_verdict_free(&verdict);
        fclose(file);
    }
    text_free(&text);
    text_free(&error);
    return 0;
}
