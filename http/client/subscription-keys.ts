// A subscription key is a market, an event, a venue or a wildcard in one channel. Several handles may share a key.

import type { Channel, ChannelOptions } from './channels.ts'
import type { Position } from './messages.ts'

const IDS_PER_COMMAND = 100

export type KeyTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'platform'; readonly platform: string }
  | { readonly kind: 'market'; readonly marketId: string }
  | { readonly kind: 'event'; readonly slug: string }

export interface KeyHolder {
  onLive(key: Key): void
  onRejected(key: Key, code: string): void
  onReplaced(key: Key, by: readonly Key[]): void
}

export interface Key {
  readonly channel: Channel
  target: KeyTarget
  options: ChannelOptions
  readonly holders: Set<KeyHolder>
  /** State on this connection. `live`: the server has replied with `synced` or `resumed`. */
  phase: 'new' | 'sent' | 'live'
  /** True once the key was live or received a message. A later connection must then fetch missed messages. */
  hasBegun: boolean
  /** Position at which a limited resume stopped. It is after the channel's position. */
  cursor: Position | null
  /**
   * All messages of the epoch up to this position have arrived. A market without a message in the epoch starts with
   * `seq` 1.
   */
  completeTo: Position | null
}

interface KeyBatch {
  readonly channel: Channel
  readonly keys: readonly Key[]
  readonly since: Position | null
}

export class ChannelKeys {
  /** Keys of single markets by id. The id is the one that the user passed, until the server reports the canonical id. */
  readonly markets = new Map<string, Key>()
  readonly wide = new Set<Key>()

  get size(): number {
    return this.wide.size + this.markets.size
  }

  *all(): Iterable<Key> {
    yield* this.wide
    yield* this.markets.values()
  }

  /** The wildcard or venue key that contains the market. Event keys contain no markets. */
  cover(marketId: string): Key | null {
    for (const key of this.wide) {
      const { target } = key
      if (target.kind === 'all') return key
      if (target.kind === 'platform' && marketId.startsWith(`${target.platform}_`)) return key
    }
    return null
  }

  /** The key through which messages of a market arrive. Null if the market is not subscribed. */
  keyOf(marketId: string): Key | null {
    return this.cover(marketId) ?? this.markets.get(marketId) ?? null
  }

  /** If the key exists with other options, it takes the new options and is sent again. */
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

/**
 * Groups keys into commands. Markets with equal options and `since` share a command. Each event needs its own command,
 * because the reply does not show to which event a market belongs.
 */
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
  const names = [...Object.keys(one), ...Object.keys(other)]
  return names.every((name) => Reflect.get(one, name) === Reflect.get(other, name))
}
