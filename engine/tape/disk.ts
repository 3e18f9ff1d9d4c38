// File operations of the tape's writer. Tests inject failures.

import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'

export interface TapeDisk {
  /** Creates a folder if it does not exist. */
  createFolder(path: string): void
  /** Opens a file for reading and writing, and creates it if it does not exist. */
  open(path: string): number
  /** Writes all bytes, or throws. */
  write(file: number, bytes: Uint8Array, position: number): void
  truncate(file: number, length: number): void
  /** Returns when the file's data is on disk. */
  sync(file: number): void
  close(file: number): void
  /** Removes a file or a folder with its content. */
  remove(path: string): void
  /** Free and total bytes of the disk that holds a folder. */
  space(folder: string): { readonly freeBytes: number; readonly totalBytes: number }
}

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

export const tapeDisk: TapeDisk = {
  createFolder: (path) => void mkdirSync(path, { recursive: true, mode: FOLDER_MODE }),
  open: (path) => openSync(path, constants.O_RDWR | constants.O_CREAT, FILE_MODE),
  write(file, bytes, position) {
    let done = 0
    while (done < bytes.length) {
      done += writeSync(file, bytes, done, bytes.length - done, position + done)
    }
  },
  truncate: ftruncateSync,
  sync: fsyncSync,
  close: closeSync,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  space(folder) {
    const { bavail, blocks, bsize } = statfsSync(folder)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  },
}
