// A seed chooses the faults. Some faults cannot occur on a real socket.

import type { Random } from '../../../engine/random.ts'

type Damage = 'drop' | 'duplicate' | 'swap' | 'truncate' | 'flip' | 'retype'

/** Faults after which every delivered frame is intact or unreadable. */
export const HONEST: readonly Damage[] = ['drop', 'duplicate', 'swap', 'truncate']
export const DAMAGES: readonly Damage[] = [...HONEST, 'flip', 'retype']

const STRANGE: readonly unknown[] = [
  null,
  true,
  '',
  'x',
  0,
  -1,
  1e308,
  2 ** 53,
  '1e9',
  '-0.5',
  '1.0000001',
  '0.5',
  '99999999999999999999',
  '4102444799999',
  {},
  [],
  [[]],
  [null, 3],
  { price: 1 },
]

export class UnreliableWire {
  readonly counts: Record<Damage, number> = {
    drop: 0,
    duplicate: 0,
    swap: 0,
    truncate: 0,
    flip: 0,
    retype: 0,
  }
  readonly #random: Random
  readonly #damages: readonly Damage[]
  readonly #percent: number
  /** A frame that is delivered after the next frame. */
  #held: string | null = null

  constructor(random: Random, set: { damages: readonly Damage[]; percent: number }) {
    this.#random = random
    this.#damages = set.damages
    this.#percent = set.percent
  }

  get damagedCount(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0)
  }

  /** Returns the frames that arrive when `text` is sent: none, one or several. */
  send(text: string): readonly string[] {
    const late = this.#held
    this.#held = null
    const arrived = this.#pass(text)
    return late === null ? arrived : [...arrived, late]
  }

  /** Returns the delayed frame, if any. */
  flush(): readonly string[] {
    const late = this.#held
    this.#held = null
    return late === null ? [] : [late]
  }

  #pass(text: string): readonly string[] {
    if (this.#random.below(100) >= this.#percent) return [text]
    const damage = this.#random.pick(this.#damages)
    this.counts[damage] += 1
    switch (damage) {
      case 'drop':
        return []
      case 'duplicate':
        return [text, text]
      case 'swap':
        this.#held = text
        return []
      case 'truncate':
        return [text.slice(0, this.#random.below(text.length))]
      case 'flip':
        return [flip(text, this.#random)]
      case 'retype':
        return [retype(text, this.#random)]
    }
  }
}

/** Flips one bit in each of one to four bytes. */
function flip(text: string, random: Random): string {
  const bytes = Buffer.from(text)
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }
  return bytes.toString('utf8')
}

/** Returns valid JSON in which one to three values are missing, absurd or of a wrong type. */
function retype(text: string, random: Random): string {
  const value: unknown = JSON.parse(text)
  for (let count = 1 + random.below(3); count > 0; count -= 1) replaceOne(value, random)
  return JSON.stringify(value)
}

function replaceOne(root: unknown, random: Random): void {
  let position = root
  for (;;) {
    if (typeof position !== 'object' || position === null) return
    const keys = Object.keys(position)
    if (keys.length === 0) return
    const key = random.pick(keys)
    const inner: unknown = Reflect.get(position, key)
    const isDeep = typeof inner === 'object' && inner !== null && random.below(5) > 0
    if (isDeep) {
      position = inner
      continue
    }
    if (random.below(6) === 0) Reflect.deleteProperty(position, key)
    else Reflect.set(position, key, strangeFor(inner, random))
    return
  }
}

/** Returns a value of a different type, possibly the same number as text. */
function strangeFor(value: unknown, random: Random): unknown {
  if (random.below(3) === 0) {
    if (typeof value === 'number') return String(value)
    if (typeof value === 'string') return Number(value)
  }
  // Later changes of the copy must not affect later picks.
  return structuredClone(random.pick(STRANGE))
}
