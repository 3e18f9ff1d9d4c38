// Parses the commands of venue b's stream. Invalid input results in the venue's error, not in an exception.

import { isRecord } from '../../../json-record.ts'
import { parseRecord } from '../sim-socket.ts'

export const ERRORS = {
  1: 'Unable to process message',
  2: 'Params required',
  3: 'Channels required',
  4: 'Subscription IDs required',
  5: 'Unknown command',
  7: 'Unknown subscription ID',
  8: 'Unknown channel name',
  11: 'Invalid parameter',
  12: 'Exactly one subscription ID is required',
  13: 'Unsupported action',
  14: 'Market Ticker required',
  15: 'Action required',
  26: 'Subscription market limit exceeded',
  27: 'Too many requests',
} as const

export type ErrorCode = keyof typeof ERRORS

export type Command =
  | {
      readonly kind: 'subscribe'
      readonly id: number
      readonly channels: readonly string[]
      /** Empty: the command is for the whole exchange. */
      readonly tickers: readonly string[]
      readonly hasInitialSnapshot: boolean
      readonly isAckShort: boolean
      readonly isYesPriced: boolean
    }
  | { readonly kind: 'unsubscribe'; readonly id: number; readonly sids: readonly number[] }
  | {
      readonly kind: 'update'
      readonly id: number
      readonly sid: number
      readonly action: string
      /** Null if the field is malformed. */
      readonly tickers: readonly string[] | null
      readonly hasInitialSnapshot: boolean
    }
  | { readonly kind: 'list'; readonly id: number }
  | { readonly kind: 'error'; readonly id: number; readonly code: ErrorCode }

export function parseCommand(text: string): Command {
  const value = parseRecord(text)
  if (value === null) return { kind: 'error', id: 0, code: 1 }
  const id = isNonNegativeInteger(value.id) ? value.id : 0
  if (value.cmd === 'list_subscriptions') return { kind: 'list', id }
  const parse = typeof value.cmd === 'string' ? PARSERS.get(value.cmd) : undefined
  if (parse === undefined) return { kind: 'error', id, code: 5 }
  return isRecord(value.params) ? parse(id, value.params) : { kind: 'error', id, code: 2 }
}

type Params = Readonly<Record<string, unknown>>

function parseSubscribe(id: number, params: Params): Command {
  const channels = texts(params.channels)
  if (channels === null || channels.length === 0) return { kind: 'error', id, code: 3 }
  const tickers = oneOrMany(params.market_ticker, params.market_tickers)
  if (tickers === null) return { kind: 'error', id, code: 11 }
  return {
    kind: 'subscribe',
    id,
    channels,
    tickers,
    hasInitialSnapshot: params.send_initial_snapshot === true,
    isAckShort: params.skip_ticker_ack === true,
    isYesPriced: params.use_yes_price === true,
  }
}

function parseUnsubscribe(id: number, params: Params): Command {
  const sids = sidList(params)
  return sids.length === 0 ? { kind: 'error', id, code: 4 } : { kind: 'unsubscribe', id, sids }
}

function parseUpdate(id: number, params: Params): Command {
  const sids = sidList(params)
  const sid = sids[0]
  if (sid === undefined || sids.length !== 1) return { kind: 'error', id, code: 12 }
  return {
    kind: 'update',
    id,
    sid,
    action: typeof params.action === 'string' ? params.action : '',
    tickers: oneOrMany(params.market_ticker, params.market_tickers),
    hasInitialSnapshot: params.send_initial_snapshot === true,
  }
}

const PARSERS: ReadonlyMap<string, (id: number, params: Params) => Command> = new Map([
  ['subscribe', parseSubscribe],
  ['unsubscribe', parseUnsubscribe],
  ['update_subscription', parseUpdate],
])

/** `sid` and `sids` combined. Empty if neither is a list of integers. */
function sidList(params: Params): readonly number[] {
  const listed = Array.isArray(params.sids) ? params.sids : []
  const all = params.sid === undefined ? listed : [params.sid, ...listed]
  return all.every(isNonNegativeInteger) ? all : []
}

/** Null: a field has the wrong type or is empty, or both the single and the list form are given. */
function oneOrMany(one: unknown, many: unknown): readonly string[] | null {
  if (one === undefined) return many === undefined ? [] : texts(many)
  if (many !== undefined || typeof one !== 'string' || one === '') return null
  return [one]
}

function texts(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
}

function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
