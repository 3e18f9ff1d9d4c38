// Detects drift by shares: a reason that rejects more than 1% of the rows, or a field that all rows of a page lack.

import { isRecord } from '../../json-record.ts'

/** 'loss': users lack data or may get wrong data until the code is adapted. 'notice': no data is lost. */
export type DriftWeight = 'loss' | 'notice'

export interface DriftNotes {
  /** `kind` is a constant of the code, `name` may be any text from the venue. The default weight is 'loss'. */
  note(kind: string, name: unknown, sample?: unknown, weight?: DriftWeight): void
}

export type FieldType = 'text' | 'number' | 'flag' | 'list' | 'object' | 'any'

export interface RowShape {
  /** The list's name in the drift table, such as `data.trades`. */
  readonly kind: string
  readonly needed: Readonly<Record<string, FieldType>>
  /** All other known fields. Null: a list would be too long, and new fields are not drift. */
  readonly further: ReadonlySet<string> | null
}

export function checkRows(shape: RowShape, rows: readonly unknown[], drift: DriftNotes): void {
  const records = rows.filter(isRecord)
  const [first] = records
  if (first === undefined) {
    if (rows.length > 0) drift.note(`${shape.kind}.row`, 'no object', rows[0])
    return
  }
  checkFields(shape, records, drift)
  const { further } = shape
  if (further === null) return
  const fresh = new Set<string>()
  for (const row of records) {
    for (const field of Object.keys(row)) {
      if (!(field in shape.needed || further.has(field))) fresh.add(field)
    }
  }
  for (const field of fresh) drift.note(`${shape.kind}.field`, `${field} new`, first, 'notice')
}

export function checkFields(
  { kind, needed }: Pick<RowShape, 'kind' | 'needed'>,
  records: readonly Readonly<Record<string, unknown>>[],
  drift: DriftNotes,
): void {
  const [first] = records
  for (const [field, type] of Object.entries(needed)) {
    const mismatch = fieldMismatch(records, field, type)
    if (mismatch !== null) drift.note(`${kind}.field`, `${field} ${mismatch}`, first)
  }
}

function fieldMismatch(
  records: readonly Readonly<Record<string, unknown>>[],
  field: string,
  type: FieldType,
): string | null {
  let isPresent = false
  let other: FieldType | null = null
  for (const { [field]: value } of records) {
    if (value === undefined) continue
    isPresent = true
    if (value === null) continue
    const found = typeOf(value)
    if (type === 'any' || found === type) return null
    other ??= found
  }
  if (!isPresent) return 'missing'
  return other === null ? null : `is ${other}`
}

function typeOf(value: unknown): FieldType {
  if (Array.isArray(value)) return 'list'
  const names: Readonly<Record<string, FieldType>> = {
    string: 'text',
    number: 'number',
    boolean: 'flag',
  }
  return names[typeof value] ?? 'object'
}

export const ROW = 'row'
const SHARE_MAX = 0.01
const COUNT_MIN = 3
const UNREAD_MAX = 200

interface Refused {
  readonly reason: string
  readonly kind: string
  readonly sample: string
  count: number
}

interface FieldCounts {
  readonly kind: string
  readonly name: string
  present: number
  absent: number
  sample: string
}

/** Counts of accepted and rejected rows since the last report, by kind. Kinds and reasons are fixed sets. */
export class Shares {
  readonly #read = new Map<string, number>()
  readonly #refused = new Map<string, Refused>()
  readonly #fieldCounts = new Map<string, FieldCounts>()
  readonly #unread = new Map<string, string>()
  readonly #unreadCounts = new Map<string, number>()

  get unread(): ReadonlyMap<string, string> {
    return this.#unread
  }

  /** Number of unreadable catalogue rows by reason. A row that is read twice counts twice. */
  get unreadCounts(): ReadonlyMap<string, number> {
    return this.#unreadCounts
  }

  read(kind: string): void {
    this.#read.set(kind, (this.#read.get(kind) ?? 0) + 1)
  }

  /** If `kind` is null, the rejections are compared with the number of all messages. */
  refused(reason: string, sample: string, kind: string | null): void {
    const existing = this.#refused.get(reason)
    if (existing === undefined) {
      this.#refused.set(reason, { reason, kind: kind ?? ANY, sample, count: 1 })
    } else existing.count += 1
    if (kind !== ROW) return
    this.#unreadCounts.set(reason, (this.#unreadCounts.get(reason) ?? 0) + 1)
    if (this.#unread.size < UNREAD_MAX) this.#unread.set(sample.slice(0, 200), reason)
  }

  noteField(
    finding: { readonly kind: string; readonly name: string },
    isPresent: boolean,
    sample: string,
  ) {
    const key = `${finding.kind}=${finding.name}`
    let counts = this.#fieldCounts.get(key)
    if (counts === undefined) {
      counts = { ...finding, present: 0, absent: 0, sample: '' }
      this.#fieldCounts.set(key, counts)
    }
    if (isPresent) counts.present += 1
    else {
      counts.absent += 1
      counts.sample ||= sample
    }
  }

  /** Reports each rejection reason and each absent field that affects more than 1% of its kind. Resets the counts. */
  report(drift: DriftNotes): void {
    for (const { kind, name, present, absent, sample } of this.#fieldCounts.values()) {
      if (absent < COUNT_MIN || absent / (present + absent) <= SHARE_MAX) continue
      drift.note(kind, name, sample)
    }
    this.#fieldCounts.clear()
    for (const { reason, kind, sample, count } of this.#refused.values()) {
      const ofKind = [...this.#refused.values()].filter((each) => each.kind === kind)
      const total = this.#readOf(kind) + ofKind.reduce((sum, each) => sum + each.count, 0)
      if (count < COUNT_MIN || count / total <= SHARE_MAX) continue
      drift.note(kind === ROW ? 'rows.refused' : 'messages.refused', reason, sample)
    }
    this.#read.clear()
    this.#refused.clear()
  }

  #readOf(kind: string): number {
    if (kind !== ANY) return this.#read.get(kind) ?? 0
    let total = 0
    for (const [of, count] of this.#read) if (of !== ROW) total += count
    return total
  }
}

const ANY = 'any'
