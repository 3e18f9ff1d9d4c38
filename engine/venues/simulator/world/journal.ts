// Journal files of a persisted world: JSON rows, appended before a change is emitted, so that a killed process has
// written everything that it emitted. Each run begins a new chapter, and so does a full chapter. A chapter names its
// predecessor and the valid bytes of it, so that a torn last line or a late row of a dying process has no effect.
//
//   FOLDER/000007.log   {"format":1,"startedMs":…,"previous":{"number":6,"bytes":48120},…}
//                       [1,0,1764000000123,…]
//                       [1,4,1764000000151,…]

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const FORMAT = 1
const NEWLINE = 10
const BRACKET = 91
const DIGIT_ZERO = 48

const chapterHead = Type.Object({
  format: Type.Literal(FORMAT),
  /** First start of the world. */
  bornMs: Type.Integer({ minimum: 0 }),
  /** Start of the run that wrote the chapter. */
  startedMs: Type.Integer({ minimum: 0 }),
  /** True if the chapter begins with the state of all earlier rows, so that earlier chapters may be deleted. */
  hasState: Type.Boolean(),
  previous: Type.Union([
    Type.Object({ number: Type.Integer(), bytes: Type.Integer({ minimum: 0 }) }),
    Type.Null(),
  ]),
})

type ChapterHead = Omit<Static<typeof chapterHead>, 'format' | 'previous'>

/** One file. Only its first `bytes` bytes are valid. */
export interface Chapter {
  readonly number: number
  readonly head: Static<typeof chapterHead>
  bytes: number
}

/** A row: its kind, then the kind's fields. */
export type Row = readonly unknown[]

/** Reads and writes the chapters of one folder. Only one process at a time. */
export class Journal {
  /** The valid chapters, oldest first. The first has a state. */
  readonly chapters: Chapter[]
  readonly #folder: string
  #file: number | null = null

  /** Creates the folder if it is missing. Throws if it cannot be read. */
  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.chapters = this.#chain()
  }

  /**
   * The selected rows of a chapter, up to the first incomplete one. Throws Error on an invalid row. `isWanted` is
   * called before parsing. Kinds are single digits.
   */
  *rows(chapter: Chapter, isWanted: (kind: number) => boolean): Generator<Row> {
    const content = readFileSync(this.#path(chapter.number))
    const isNewest = chapter === this.chapters.at(-1)
    const endByte = Math.min(chapter.bytes, content.length)
    let atByte = content.indexOf(NEWLINE) + 1
    while (atByte < endByte) {
      const newline = content.indexOf(NEWLINE, atByte)
      const kind = (content[atByte + 1] ?? DIGIT_ZERO) - DIGIT_ZERO
      if (newline >= 0 && content[atByte] === BRACKET && kind >= 0 && !isWanted(kind)) {
        atByte = newline + 1
        continue
      }
      const row = newline < 0 ? null : parse(content.toString('utf8', atByte, newline))
      if (!Array.isArray(row)) {
        // After a power failure the end may be torn or blank. The rest was never complete.
        if (!isNewest) throw new Error(`${this.#path(chapter.number)} is damaged at byte ${atByte}`)
        chapter.bytes = atByte
        return
      }
      yield row
      atByte = newline + 1
    }
    chapter.bytes = endByte
  }

  /** Begins the next chapter with `rows`, atomically. Throws if it cannot be written. */
  begin(head: ChapterHead, rows: string): void {
    this.close()
    const last = this.chapters.at(-1)
    const previous = last === undefined ? null : { number: last.number, bytes: last.bytes }
    const number = 1 + Math.max(0, ...this.#numbers())
    const fullHead = { format: FORMAT, ...head, previous } as const
    const text = `${JSON.stringify(fullHead)}\n${rows}`
    const draft = `${this.#path(number)}.draft`
    this.#file = openSync(draft, 'w', 0o600)
    const chapter = { number, head: fullHead, bytes: 0 }
    this.chapters.push(chapter)
    this.append(text)
    renameSync(draft, this.#path(number))
    const wanted = new Set(this.chapters.map((retained) => retained.number))
    for (const found of this.#numbers()) if (!wanted.has(found)) rmSync(this.#path(found))
  }

  /** Appends complete rows, each with its newline. They survive the process from then on. Throws if the write fails. */
  append(rows: string): void {
    const chapter = this.chapters.at(-1)
    if (this.#file === null || chapter === undefined) throw new Error('no chapter was begun')
    const bytes = Buffer.from(rows)
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written)
    }
    chapter.bytes += bytes.length
  }

  /** Deletes the oldest `count` chapters at the next `begin`. */
  dropOldest(count: number): void {
    this.chapters.splice(0, count)
  }

  /** Deletes all chapters. The next one is the first. */
  clear(): void {
    this.close()
    this.dropOldest(this.chapters.length)
    for (const number of this.#numbers()) rmSync(this.#path(number))
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  /**
   * Follows the chain from the newest chapter back to the last existing one, then forward to the first with a state.
   */
  #chain(): Chapter[] {
    const chain: Chapter[] = []
    let link: { number: number; bytes: number } | null = {
      number: Math.max(0, ...this.#numbers()),
      bytes: Number.MAX_SAFE_INTEGER,
    }
    while (link !== null && existsSync(this.#path(link.number))) {
      const head = this.#head(link.number)
      if (head === null) break
      chain.unshift({ ...link, head })
      link = head.previous
    }
    const first = chain.findIndex(({ head }) => head.hasState)
    return first < 0 ? [] : chain.slice(first)
  }

  #head(number: number): Chapter['head'] | null {
    const content = readFileSync(this.#path(number))
    const head = parse(content.toString('utf8', 0, Math.max(0, content.indexOf(NEWLINE))))
    return Value.Check(chapterHead, head) ? head : null
  }

  #numbers(): number[] {
    const names = readdirSync(this.#folder).map((name) => /^(\d{6,})\.log$/.exec(name)?.[1])
    return names.filter((digits) => digits !== undefined).map(Number)
  }

  #path(number: number): string {
    return join(this.#folder, `${String(number).padStart(6, '0')}.log`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
