// What the user is subscribed to, as keys: a single market, an event, a venue or everything, each in
// one channel. Several handles may share a key. Knows how far each key has come on the present
// connection, and in which commands keys travel.

import type { Channel, Position } from './messages.ts'

/** Most ids of one command. */
const IDS_PER_COMMAND = 100

/** Options of a channel, as the protocol names them. */
export interface ChannelOptions {
  /** `depth`: 5, 10 or 20. */
  readonly levels?: number
  /** `depth`: 100, 250, 1000; `prices`: 0, 250, 1000. */
  readonly conflate_ms?: number
  /** `candles`. */
  readonly interval?: string
  /** `arbitrage`: 0, 1, 5, 10, 50, 100. */
  readonly min_profit_usd?: number
  /** `arbitrage`: 0, 0.005, 0.01, 0.02, 0.05. */
  readonly min_edge?: number
}

export type KeyTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'platform'; readonly platform: string }
  | { readonly kind: 'market'; readonly marketId: string }
  | { readonly kind: 'event'; readonly slug: string }

/** What a handle learns about its keys. */
export interface KeyHolder {
  /** The key is live. */
  onLive(key: Key): void
  /** The key was refused, and is gone. */
  onRejected(key: Key, code: string): void
  /** Other keys stand for this one from now on. */
  onReplaced(key: Key, by: readonly Key[]): void
}

/** One subscription. */
export interface Key {
  readonly channel: Channel
  target: KeyTarget
  options: ChannelOptions
  /** The handles that want it; without any it is taken out. */
  readonly holders: Set<KeyHolder>
  /** On this connection: not yet sent; sent; answered by `synced` or `resumed`. */
  phase: 'new' | 'sent' | 'live'
  /** Was live, or had a message: a later connection must bring what was missed in between. */
  hasBegun: boolean
  /** Where a limited resume stopped: further than the channel's position. */
  cursor: Position | null
  /** Everything of this run, from its first message to this offset, has come: a market not seen in
   *  the run begins with seq 1. */
  completeTo: Position | null
}

/** Keys that travel in one command. */
interface KeyBatch {
  readonly channel: Channel
  readonly keys: readonly Key[]
  readonly since: Position | null
}

/** One channel's keys. */
export class ChannelKeys {
  /** Single markets by id, as given until the server says the canonical one. */
  readonly markets = new Map<string, Key>()
  /** Everything, whole venues and events. */
  readonly wide = new Set<Key>()

  get size(): number {
    return this.wide.size + this.markets.size
  }

  *all(): Iterable<Key> {
    yield* this.wide
    yield* this.markets.values()
  }

  /** The key of everything or of a venue that contains this market; events contain nothing. */
  cover(marketId: string): Key | null {
    for (const key of this.wide) {
      const { target } = key
      if (target.kind === 'all') return key
      if (target.kind === 'platform' && marketId.startsWith(`${target.platform}_`)) return key
    }
    return null
  }

  /** By which key a market's messages come; null when no handle wants them. */
  keyOf(marketId: string): Key | null {
    return this.cover(marketId) ?? this.markets.get(marketId) ?? null
  }

  /** The key of a target; one that is known takes the newer options, and is to be sent again. */
  add(channel: Channel, target: KeyTarget, options: ChannelOptions): Key {
    const existing = this.find(target)
    if (existing !== null) {
      if (!sameOptions(existing.options, options)) {
        existing.options = options
        existing.phase = 'new'
      }
      return existing
    }
    const fresh = { phase: 'new', hasBegun: false, cursor: null, completeTo: null } as const
    const key: Key = { channel, target, options, holders: new Set(), ...fresh }
    if (target.kind === 'market') this.markets.set(target.marketId, key)
    else this.wide.add(key)
    return key
  }

  remove(key: Key): void {
    if (key.target.kind !== 'market') this.wide.delete(key)
    else if (this.markets.get(key.target.marketId) === key) this.markets.delete(key.target.marketId)
  }

  /** Gives a single market its canonical id; returns the key that then stands for it, which may be
   *  another that was there before. */
  rename(key: Key, marketId: string): Key {
    if (key.target.kind === 'market' && key.target.marketId === marketId) return key
    this.remove(key)
    const existing = this.markets.get(marketId)
    if (existing !== undefined) return existing
    key.target = { kind: 'market', marketId }
    this.markets.set(marketId, key)
    return key
  }

  find(target: KeyTarget): Key | null {
    if (target.kind === 'market') return this.markets.get(target.marketId) ?? null
    for (const key of this.wide) {
      if (JSON.stringify(key.target) === JSON.stringify(target)) return key
    }
    return null
  }
}

/** Sorts keys into commands: wide ones and events alone and first, markets by hundreds of a kind. An
 *  event travels alone, since the answer does not say which market came of which event. */
export function batchKeys(
  channel: Channel,
  keys: Iterable<Key>,
  sinceOf: (key: Key) => Position | null,
): KeyBatch[] {
  const done: KeyBatch[] = []
  const groups = new Map<string, { since: Position | null; keys: Key[] }>()
  for (const key of keys) {
    const since = sinceOf(key)
    const { kind } = key.target
    if (kind !== 'market') {
      done.push({ channel, keys: [key], since })
      continue
    }
    const name = JSON.stringify([key.options, since])
    const group = groups.get(name) ?? { since, keys: [] }
    group.keys.push(key)
    groups.set(name, group)
  }
  for (const { since, keys: all } of groups.values()) {
    for (let start = 0; start < all.length; start += IDS_PER_COMMAND) {
      done.push({ channel, keys: all.slice(start, start + IDS_PER_COMMAND), since })
    }
  }
  return done
}

/** The fields of a command that say what these keys mean. */
export function targetFields(keys: readonly Key[]): Readonly<Record<string, unknown>> {
  const first = keys[0]?.target
  if (first?.kind === 'all') return { market_ids: ['*'] }
  if (first?.kind === 'platform') return { platform: first.platform }
  if (first?.kind === 'event') return { event_slugs: [first.slug] }
  return { market_ids: keys.map(({ target }) => nameOf(target)) }
}

export function nameOf(target: KeyTarget): string {
  switch (target.kind) {
    case 'all':
      return '*'
    case 'platform':
      return target.platform
    case 'market':
      return target.marketId
    case 'event':
      return target.slug
  }
}

export function sameOptions(one: ChannelOptions, other: ChannelOptions): boolean {
  return (
    one.levels === other.levels &&
    one.conflate_ms === other.conflate_ms &&
    one.interval === other.interval &&
    one.min_profit_usd === other.min_profit_usd &&
    one.min_edge === other.min_edge
  )
}

/** Whether the server leaves messages of a channel out by these options: holes in `seq` and offsets are no loss. */
export function isFiltered({ min_profit_usd = 0, min_edge = 0 }: ChannelOptions): boolean {
  return min_profit_usd > 0 || min_edge > 0
}
