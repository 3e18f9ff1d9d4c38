// A preloaded library (power-loss.c) records the engine's disk writes and delays every flush. After kill -9 the
// databases are rebuilt from the flushed writes and a random part of the other writes.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../../engine/random.ts'

const NAMES = ['accounts', 'market'] as const
const HEAD_BYTES = 24
const KIND = { write: 1, flushBegins: 2, flushEnds: 3, syncBegins: 4, syncEnds: 5 } as const
/** The disk writes a sector completely or not at all. */
const SECTOR_BYTES = 512

/** Returns null if the library can be built on this machine. */
export function noShimReason(): string | null {
  if (process.platform !== 'linux') return 'the shim is for Linux'
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'no C compiler is installed'
  }
}

interface Write {
  readonly offset: number
  readonly bytes: Buffer
  isFlushed: boolean
}

interface Loss {
  readonly unflushedWrites: number
  /** Number of sectors of unflushed writes, and how many of them reached the disk. */
  readonly unflushedSectors: number
  readonly writtenSectors: number
}

/** The test must call `close`. */
export class PowerSupply {
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinbook-power-'))
  readonly #dataDir: string
  readonly #flushMs: number

  /** Compiles the library. Each flush takes a random time up to `flushMs`. */
  constructor(dataDir: string, flushMs: number) {
    this.#dataDir = dataDir
    this.#flushMs = flushMs
    const source = fileURLToPath(new URL('power-loss.c', import.meta.url))
    const flags = ['-O2', '-shared', '-fPIC', '-o', this.#shim, source, '-ldl', '-lpthread']
    execFileSync('cc', flags)
  }

  get #shim(): string {
    return join(this.#folder, 'power-loss.so')
  }

  /** Treats the current contents of the data folder as flushed. Returns environment variables for the process. */
  begin(): Readonly<Record<string, string>> {
    for (const name of NAMES) {
      rmSync(this.#journal(name), { force: true })
      rmSync(this.#platter(name), { force: true })
      if (existsSync(this.#file(name))) copyFileSync(this.#file(name), this.#platter(name))
    }
    const boot = join(this.#folder, 'boot_id')
    writeFileSync(boot, `${randomUUID()}\n`)
    return {
      LD_PRELOAD: this.#shim,
      POWER_FOLDER: this.#folder,
      POWER_DATA: this.#dataDir,
      POWER_BOOT_ID: boot,
      POWER_FLUSH_MS: String(this.#flushMs),
    }
  }

  /** Replaces the databases by the contents of the disk. The process must have ended. */
  lose(random: Random): Loss {
    const loss = { unflushedWrites: 0, unflushedSectors: 0, writtenSectors: 0 }
    for (const name of NAMES) {
      if (!existsSync(this.#journal(name))) continue
      const writes = writesOf(readFileSync(this.#journal(name)))
      const platter = this.#platter(name)
      const before = existsSync(platter) ? readFileSync(platter) : Buffer.alloc(0)
      const end = writes.reduce(
        (most, { offset, bytes }) => Math.max(most, offset + bytes.length),
        0,
      )
      // Regions of a longer file that were not written contain zeros.
      const after = Buffer.alloc(Math.max(end, before.length))
      before.copy(after)
      // Share of the unflushed sectors that reached the disk: none, all or a part.
      const share = random.pick([0, 0.1, 0.5, 0.9, 1])
      for (const write of writes) {
        if (write.isFlushed) write.bytes.copy(after, write.offset)
        else applySome(after, write, { random, share, loss })
      }
      mkdirSync(join(this.#dataDir, name), { recursive: true })
      rmSync(join(this.#dataDir, name, 'lock.mdb'), { force: true })
      writeFileSync(this.#file(name), after)
    }
    return loss
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #file(name: string): string {
    return join(this.#dataDir, name, 'data.mdb')
  }

  #platter(name: string): string {
    return join(this.#folder, `${name}.platter`)
  }

  #journal(name: string): string {
    return join(this.#folder, `${name}.journal`)
  }
}

function applySome(
  platter: Buffer,
  { offset, bytes }: Write,
  {
    random,
    share,
    loss,
  }: { random: Random; share: number; loss: { -readonly [name in keyof Loss]: Loss[name] } },
): void {
  loss.unflushedWrites += 1
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES))
    loss.unflushedSectors += 1
    if (random.next() < share) {
      loss.writtenSectors += 1
      bytes.copy(platter, offset + from, from, to)
    }
    from = to
  }
}

/**
 * A completed flush makes every earlier write durable. A completed synchronous write is durable. The last record may be
 * truncated.
 */
function writesOf(journal: Buffer): readonly Write[] {
  const writes: Write[] = []
  const flushes = new Map<number, number>()
  const synchronous = new Map<number, Write>()
  let flushedCount = 0
  for (let at = 0; at + HEAD_BYTES <= journal.length; ) {
    const kind = journal.readUInt32LE(at)
    const length = journal.readUInt32LE(at + 4)
    const number = Number(journal.readBigUInt64LE(at + 8))
    const offset = Number(journal.readBigUInt64LE(at + 16))
    at += HEAD_BYTES
    if (at + length > journal.length) break
    const write: Write = { offset, bytes: journal.subarray(at, at + length), isFlushed: false }
    at += length
    if (kind === KIND.write || kind === KIND.syncBegins) writes.push(write)
    if (kind === KIND.syncBegins) synchronous.set(number, write)
    if (kind === KIND.flushBegins) flushes.set(number, writes.length)
    const done = kind === KIND.syncEnds ? synchronous.get(number) : undefined
    if (done !== undefined) done.isFlushed = true
    if (kind === KIND.flushEnds) flushedCount = Math.max(flushedCount, flushes.get(number) ?? 0)
  }
  for (const write of writes.slice(0, flushedCount)) write.isFlushed = true
  return writes
}
