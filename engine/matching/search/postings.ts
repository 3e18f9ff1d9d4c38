// Inverted index in typed arrays: key → document ids. Sized for some hundred thousand subjects of some forty keys
// each. Ids of removed subjects stay until a quarter is dead.
//
//   table   key → slot (open addressing). A slot has the key, the length of its list, and the list's start in `ids`.
//   ids     lists of document ids. A full list moves to the end, with twice the capacity.
//   docId   its keys are `keys[starts[docId] … starts[docId + 1])`

const DOCS_FIRST = 256
const IDS_FIRST = 8_192
const SLOTS_FIRST = 4_096
const LOAD_MAX = 0.6
/** Numbers of a slot, and their positions in it. */
const STRIDE = 3
const [KEY, LENGTH, START] = [0, 1, 2]

/** Ids of removed documents remain, and the caller skips them. */
export class Postings {
  #table = new Uint32Array(SLOTS_FIRST * STRIDE)
  #slotCount = SLOTS_FIRST
  #slotsUsed = 0
  #ids = new Uint32Array(IDS_FIRST)
  #idsEnd = 0
  #keys = new Uint32Array(IDS_FIRST)
  #keyCount = 0
  #starts = new Uint32Array(DOCS_FIRST)
  #docCount = 0

  /** Adds a document with distinct keys of 31 bits. Returns its document id. */
  add(keys: Uint32Array): number {
    const docId = this.#docCount
    this.#docCount += 1
    if (docId + 2 > this.#starts.length) this.#starts = doubled(this.#starts)
    while (this.#keyCount + keys.length > this.#keys.length) this.#keys = doubled(this.#keys)
    this.#keys.set(keys, this.#keyCount)
    this.#keyCount += keys.length
    this.#starts[docId + 1] = this.#keyCount
    for (const key of keys) this.#enter(key, docId)
    return docId
  }

  /** Number of documents under a key, including removed ones. */
  length(key: number): number {
    return this.#table[this.#slotOf(key + 1) + LENGTH] ?? 0
  }

  /** Calls `visit` for every document under a key, the oldest first, including removed ones. */
  each(key: number, visit: (docId: number) => void): void {
    const [ids, slot] = [this.#ids, this.#slotOf(key + 1)]
    const start = this.#table[slot + START] ?? 0
    const end = start + (this.#table[slot + LENGTH] ?? 0)
    for (let at = start; at < end; at += 1) visit(ids[at] ?? 0)
  }

  /** The keys of a document, sorted. The view is valid until the next change. */
  keysOf(docId: number): Uint32Array {
    return this.#keys.subarray(this.#starts[docId] ?? 0, this.#starts[docId + 1] ?? 0)
  }

  #enter(key: number, docId: number): void {
    let slot = this.#slotOf(key + 1)
    if (this.#table[slot + KEY] === 0) {
      if (this.#slotsUsed + 1 > this.#slotCount * LOAD_MAX) {
        this.#widen()
        slot = this.#slotOf(key + 1)
      }
      this.#slotsUsed += 1
      this.#table[slot + KEY] = key + 1
    }
    const length = this.#table[slot + LENGTH] ?? 0
    // The capacity is the next power of two, so a list is full if its length is one.
    if ((length & (length - 1)) === 0) this.#move(slot, length)
    this.#ids[(this.#table[slot + START] ?? 0) + length] = docId
    this.#table[slot + LENGTH] = length + 1
  }

  /** Moves a full list to the end. */
  #move(slot: number, length: number): void {
    const start = this.#table[slot + START] ?? 0
    const capacity = Math.max(1, length * 2)
    while (this.#idsEnd + capacity > this.#ids.length) this.#ids = doubled(this.#ids)
    this.#ids.copyWithin(this.#idsEnd, start, start + length)
    this.#table[slot + START] = this.#idsEnd
    this.#idsEnd += capacity
  }

  /**
   * Position of the slot of a key, or of the slot at which to insert it. Stored keys are incremented by 1, because 0
   * marks a free slot.
   */
  #slotOf(marked: number): number {
    const [table, mask] = [this.#table, this.#slotCount - 1]
    let slot = (Math.imul(marked, 0x9e3779b1) >>> 7) & mask
    for (;;) {
      const stored = table[slot * STRIDE + KEY]
      if (stored === marked || stored === 0) return slot * STRIDE
      slot = (slot + 1) & mask
    }
  }

  #widen(): void {
    const table = this.#table
    this.#slotCount *= 2
    this.#table = new Uint32Array(this.#slotCount * STRIDE)
    for (let from = 0; from < table.length; from += STRIDE) {
      const marked = table[from + KEY] ?? 0
      if (marked !== 0) this.#table.set(table.subarray(from, from + STRIDE), this.#slotOf(marked))
    }
  }
}

function doubled(values: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2)
  larger.set(values)
  return larger
}
