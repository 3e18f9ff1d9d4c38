/*
 * A library that is preloaded before the C library and records the disk writes of LMDB in a journal.
 * power-loss.ts reads the journal and computes the contents of the disk after a power loss. Each write to
 * a data.mdb is recorded before it is made. Each flush is recorded at its start and its end, and takes up
 * to POWER_FLUSH_MS. Reads of the kernel's boot id return the contents of POWER_BOOT_ID, because a power
 * loss includes a reboot. Other files are not affected.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS = 65536, KINDS = 5 };
enum kind { WRITE = 1, FLUSH_BEGINS = 2, FLUSH_ENDS = 3, SYNC_WRITE_BEGINS = 4, SYNC_WRITE_ENDS = 5 };

struct record {
  uint32_t kind;
  uint32_t bytes;
  uint64_t number; /* identifies a flush or a synchronous write; 0 for other writes */
  uint64_t offset;
};

static int journals[FDS];      /* by file descriptor: the journal, or 0 */
static int is_synchronous[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_number;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

static uint64_t next_number(void) { return __atomic_add_fetch(&last_number, 1, __ATOMIC_SEQ_CST); }

static void note(int journal, enum kind kind, uint64_t number, uint64_t offset,
                 const struct iovec *parts, int count) {
  static ssize_t (*write_all)(int, const struct iovec *, int);
  if (write_all == NULL) write_all = real("writev");
  struct iovec all[65];
  struct record head = {kind, 0, number, offset};
  if (count > 64) abort();
  for (int i = 0; i < count; i += 1) {
    all[i + 1] = parts[i];
    head.bytes += parts[i].iov_len;
  }
  all[0].iov_base = &head;
  all[0].iov_len = sizeof head;
  pthread_mutex_lock(&lock);
  ssize_t written = write_all(journal, all, count + 1);
  pthread_mutex_unlock(&lock);
  if (written != (ssize_t)(sizeof head + head.bytes)) abort();
}

static int journal_of(int fd) { return fd >= 0 && fd < FDS ? journals[fd] : 0; }

/* A database is DATA_DIR/<name>/data.mdb, its journal POWER_FOLDER/<name>.journal. */
static void follow(int fd, const char *path, int flags) {
  const char *folder = getenv("POWER_FOLDER");
  const char *data = getenv("POWER_DATA");
  if (fd < 0 || fd >= FDS || folder == NULL || data == NULL) return;
  size_t length = strlen(data);
  if (strncmp(path, data, length) != 0 || path[length] != '/') return;
  char name[64];
  char rest[16];
  if (sscanf(path + length + 1, "%63[a-z]/%15s", name, rest) != 2) return;
  if (strcmp(rest, "data.mdb") != 0) return;
  char journal[4096];
  snprintf(journal, sizeof journal, "%s/%s.journal", folder, name);
  int (*open_file)(const char *, int, ...) = real("open64");
  int opened = open_file(journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (opened < 0) abort();
  is_synchronous[fd] = (flags & (O_DSYNC | O_SYNC)) != 0;
  journals[fd] = opened;
}

static int opened(const char *called, const char *path, int flags, mode_t mode) {
  int (*open_file)(const char *, int, ...) = real(called);
  const char *boot = getenv("POWER_BOOT_ID");
  if (boot != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot;
  int fd = open_file(path, flags, mode);
  follow(fd, path, flags);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened("open64", path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened("open", path, flags, mode);
}

int close(int fd) {
  static int (*close_file)(int);
  if (close_file == NULL) close_file = real("close");
  int journal = journal_of(fd);
  if (journal != 0) {
    journals[fd] = 0;
    close_file(journal);
  }
  return close_file(fd);
}

/* Records a write before it is made. Until the next flush it may or may not survive a power loss. */
static uint64_t begin_write(int fd, int journal, const struct iovec *parts, int count, off64_t at) {
  if (!is_synchronous[fd]) {
    note(journal, WRITE, 0, (uint64_t)at, parts, count);
    return 0;
  }
  uint64_t number = next_number();
  note(journal, SYNC_WRITE_BEGINS, number, (uint64_t)at, parts, count);
  return number;
}

static void end_write(int journal, uint64_t number) {
  if (number != 0) note(journal, SYNC_WRITE_ENDS, number, 0, NULL, 0);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  static ssize_t (*write_at)(int, const void *, size_t, off64_t);
  if (write_at == NULL) write_at = real("pwrite64");
  int journal = journal_of(fd);
  if (journal == 0) return write_at(fd, bytes, count, at);
  struct iovec part = {(void *)bytes, count};
  uint64_t number = begin_write(fd, journal, &part, 1, at);
  ssize_t written = write_at(fd, bytes, count, at);
  if (written != (ssize_t)count) abort();
  end_write(journal, number);
  return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  static ssize_t (*write_all)(int, const struct iovec *, int);
  if (write_all == NULL) write_all = real("writev");
  int journal = journal_of(fd);
  if (journal == 0) return write_all(fd, parts, count);
  uint64_t number = begin_write(fd, journal, parts, count, lseek64(fd, 0, SEEK_CUR));
  ssize_t written = write_all(fd, parts, count);
  end_write(journal, number);
  return written;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*write_some)(int, const void *, size_t);
  if (write_some == NULL) write_some = real("write");
  int journal = journal_of(fd);
  if (journal == 0) return write_some(fd, bytes, count);
  struct iovec part = {(void *)bytes, count};
  uint64_t number = begin_write(fd, journal, &part, 1, lseek64(fd, 0, SEEK_CUR));
  ssize_t written = write_some(fd, bytes, count);
  end_write(journal, number);
  return written;
}

static int flush(const char *called, int fd) {
  int (*flush_file)(int) = real(called);
  int journal = journal_of(fd);
  if (journal == 0) return flush_file(fd);
  const char *most = getenv("POWER_FLUSH_MS");
  uint64_t number = next_number();
  note(journal, FLUSH_BEGINS, number, 0, NULL, 0);
  /* No real flush is needed, because the reader of the journal simulates the disk. */
  if (most != NULL) usleep(1000 * (useconds_t)(rand() % (atoi(most) + 1)));
  note(journal, FLUSH_ENDS, number, 0, NULL, 0);
  return 0;
}

int fdatasync(int fd) { return flush("fdatasync", fd); }
int fsync(int fd) { return flush("fsync", fd); }

/* Writes to mapped pages would be missing in the journal. */
int msync(void *address, size_t bytes, int flags) {
  (void)address;
  (void)bytes;
  (void)flags;
  abort();
}
