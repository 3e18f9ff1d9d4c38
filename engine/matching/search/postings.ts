// Inverted index in typed arrays: key → document ids. Sized for some hundred thousand subjects of some forty keys
// each, at 12 bytes an entry. Entries of removed subjects stay until a quarter is dead.
//
//   table   key → slot (open addressing)   slot: length of its list, newest entry
//   entry   document id, index of the previous entry of the same list (0: none)
//   docId   its keys are `keys[starts[docId] … starts[docId + 1])`

const DOCS_FIRST = 256
const ENTRIES_FIRST = 8_192
const SLOTS_FIRST = 4_096
const LOAD_MAX = 0.6

/** Entries of removed documents remain, and the caller skips them. */
export class Postings {
  #tableKeys = new Uint32Array(SLOTS_FIRST)
  #lengths = new Uint32Array(SLOTS_FIRST)
  #newest = new Uint32Array(SLOTS_FIRST)
  #slotsUsed = 0
  /** Entry 0 means none. */
  #docIds = new Uint32Array(ENTRIES_FIRST)
  #before = new Uint32Array(ENTRIES_FIRST)
  #entryCount = 1
  #keys = new Uint32Array(ENTRIES_FIRST)
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
    return this.#lengths[this.#slotOf(key + 1)] ?? 0
  }

  /** Calls `visit` for every document under a key, the newest first, including removed ones. */
  each(key: number, visit: (docId: number) => void): void {
    let entry = this.#newest[this.#slotOf(key + 1)] ?? 0
    while (entry !== 0) {
      visit(this.#docIds[entry] ?? 0)
      entry = this.#before[entry] ?? 0
    }
  }

  /** The keys of a document. The view is valid until the next change. */
  keysOf(docId: number): Uint32Array {
    return this.#keys.subarray(this.#starts[docId] ?? 0, this.#starts[docId + 1] ?? 0)
  }

  #enter(key: number, docId: number): void {
    if (this.#entryCount === this.#docIds.length) {
      this.#docIds = doubled(this.#docIds)
      this.#before = doubled(this.#before)
    }
    let slot = this.#slotOf(key + 1)
    if (this.#tableKeys[slot] === 0) {
      if (this.#slotsUsed + 1 > this.#tableKeys.length * LOAD_MAX) {
        this.#widen()
        slot = this.#slotOf(key + 1)
      }
      this.#slotsUsed += 1
      this.#tableKeys[slot] = key + 1
    }
    const entry = this.#entryCount
    this.#entryCount += 1
    this.#docIds[entry] = docId
    this.#before[entry] = this.#newest[slot] ?? 0
    this.#newest[slot] = entry
    this.#lengths[slot] = (this.#lengths[slot] ?? 0) + 1
  }

  /**
   * The slot of a key, or the slot at which to insert it. Stored keys are incremented by 1, because 0 marks a free
   * slot.
   */
  #slotOf(marked: number): number {
    const mask = this.#tableKeys.length - 1
    let slot = (Math.imul(marked, 0x9e3779b1) >>> 7) & mask
    for (;;) {
      const stored = this.#tableKeys[slot]
      if (stored === marked || stored === 0) return slot
      slot = (slot + 1) & mask
    }
  }

  #widen(): void {
    const [keys, lengths, newest] = [this.#tableKeys, this.#lengths, this.#newest]
    this.#tableKeys = new Uint32Array(keys.length * 2)
    this.#lengths = new Uint32Array(keys.length * 2)
    this.#newest = new Uint32Array(keys.length * 2)
    for (const [from, marked] of keys.entries()) {
      if (marked === 0) continue
      const slot = this.#slotOf(marked)
      this.#tableKeys[slot] = marked
      this.#lengths[slot] = lengths[from] ?? 0
      this.#newest[slot] = newest[from] ?? 0
    }
  }
}

function doubled(values: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(values.length * 2)
  larger.set(values)
  return larger
}
