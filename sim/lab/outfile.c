/* outfile.c - see the header. Writes are gathered in a buffer of half a megabyte: a row reaches the disk together with
 * its neighbours. */
#include "sim/lab/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/memory.h"

enum { BUFFER_BYTES = 512 * 1024, FOLDER_MODE = 0777, FILE_MODE = 0666 };

static char *joined(const char *folder, const char *name, const char *suffix) {
    struct text path = {0};
    text_add(&path, "%s/%s%s", folder, name, suffix);
    return path.bytes;
}

bool outfile_open(struct outfile *file, const char *folder, const char *name) {
    *file = (struct outfile){.path = joined(folder, name, ""), .temporary = joined(folder, name, ".tmp")};
    unlink(file->temporary); /* of a run that was killed */
    file->descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (file->descriptor < 0) {
        file->error = errno;
        mem_free(file->temporary);
        file->temporary = NULL;
    }
    return file->error == 0;
}

static bool flush(struct outfile *file) {
    size_t done = 0;
    while (file->error == 0 && done < file->buffer.length) {
        ssize_t count = write(file->descriptor, file->buffer.bytes + done, file->buffer.length - done);
        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            file->error = errno;
        }
    }
    text_clear(&file->buffer);
    return file->error == 0;
}

bool outfile_write(struct outfile *file, const char *bytes, size_t count) {
    text_add_bytes(&file->buffer, bytes, count);
    file->size += count;
    return file->buffer.length < BUFFER_BYTES ? file->error == 0 : flush(file);
}

bool outfile_read(struct outfile *file, uint64_t offset, char *bytes, size_t count) {
    CHECK(offset + count <= file->size);
    if (file->error != 0 || !flush(file)) {
        return false;
    }
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(file->descriptor, bytes + done, count - done, (off_t)(offset + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            file->error = got == 0 ? EIO : errno;
            return false;
        }
    }
    return true;
}

bool outfile_finish(struct outfile *file) {
    if (flush(file) && fsync(file->descriptor) != 0) {
        file->error = errno;
    }
    return file->error == 0;
}

static void sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    struct text folder = {0};
    text_add_bytes(&folder, path, (size_t)(slash - path));
    int descriptor = open(text_string(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        fsync(descriptor); /* not every file system can: the rename stands anyway */
        close(descriptor);
    }
    text_free(&folder);
}

bool outfile_commit(struct outfile *file) {
    if (file->error == 0 && rename(file->temporary, file->path) != 0) {
        file->error = errno;
    }
    if (file->error != 0) {
        return false;
    }
    mem_free(file->temporary);
    file->temporary = NULL;
    close(file->descriptor);
    sync_folder_of(file->path);
    return true;
}

void outfile_redirect(struct outfile *file, const char *folder, const char *name) {
    mem_free(file->path);
    file->path = joined(folder, name, "");
}

void outfile_close(struct outfile *file) {
    if (file->temporary != NULL) {
        close(file->descriptor);
        unlink(file->temporary);
    }
    mem_free(file->temporary);
    mem_free(file->path);
    text_free(&file->buffer);
    *file = (struct outfile){0};
}

bool outfile_lock(int descriptor) {
    enum { TRIALS = 20 };
    const struct timespec moment = {.tv_nsec = 50 * 1000000L};
    for (int trial = 1; flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; trial++) {
        if (trial == TRIALS) {
            return false;
        }
        nanosleep(&moment, NULL);
    }
    return true;
}

bool outfile_make_folder(const char *folder, bool *created) {
    char *path = mem_string(folder);
    int failure = 0;
    *created = false;
    for (char *p = path; failure == 0 && *p != '\0'; p++) {
        bool is_end = p[1] == '\0';
        if (!is_end && (p == path || *p != '/')) {
            continue;
        }
        char kept = *p;
        *p = is_end ? kept : '\0';
        *created = mkdir(path, FOLDER_MODE) == 0;
        if (!*created && errno != EEXIST) {
            failure = errno;
        }
        *p = kept;
    }
    mem_free(path);
    struct stat facts;
    if (failure == 0 && stat(folder, &facts) != 0) {
        failure = errno;
    } else if (failure == 0 && !S_ISDIR(facts.st_mode)) {
        failure = ENOTDIR;
    }
    errno = failure;
    return failure == 0;
}

char *outfile_load(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return NULL;
    }
    enum { CHUNK = 65536 };
    struct text content = {0};
    char *chunk = mem_new(CHUNK, 1);
    ssize_t got;
    while ((got = read(descriptor, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR)) {
        text_add_bytes(&content, chunk, got > 0 ? (size_t)got : 0);
    }
    int failure = got < 0 ? errno : 0;
    close(descriptor);
    mem_free(chunk);
    text_add_bytes(&content, "", 0);
    if (failure != 0) {
        text_free(&content);
        errno = failure;
    }
    return content.bytes;
}
