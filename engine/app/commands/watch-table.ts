import { isRecord } from '../../json-record.ts'

type Fields = Readonly<Record<string, unknown>>

interface Column {
  readonly heading: string
  readonly width: number
  readonly isNumber?: boolean
  readonly textOf: (data: Fields, message: Fields) => unknown
}

const numberColumn = (heading: string, name: string, width = 9): Column => {
  return { heading, width, isNumber: true, textOf: (data) => data[name] }
}
const textColumn = (heading: string, name: string, width: number): Column => {
  return { heading, width, textOf: (data) => data[name] }
}
const side = (heading: string, name: 'bids' | 'asks'): Column => {
  return { heading, width: 24, textOf: (data) => levels(data[name]) }
}

const TIME: Column = {
  heading: 'time (UTC)',
  width: 12,
  textOf: (data, { timestamp_ms }) => clockTime(timestamp_ms ?? data.timestamp_ms),
}
const MARKET: Column = {
  heading: 'market',
  width: 34,
  textOf: (_, { market_id }) => market_id,
}
const TYPE: Column = { heading: 'message', width: 8, textOf: (_, { type }) => type }
const BOOK = [TYPE, side('bids', 'bids'), side('asks', 'asks')]

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  orderbook: [...BOOK, numberColumn('spread', 'spread', 7)],
  depth: [...BOOK, numberColumn('spread', 'spread', 7)],
  prices: [
    numberColumn('price', 'price'),
    numberColumn('bid', 'best_bid'),
    numberColumn('ask', 'best_ask'),
    numberColumn('spread', 'spread'),
    textColumn('source', 'source', 12),
  ],
  trades: [
    textColumn('side', 'side', 4),
    numberColumn('price', 'price'),
    numberColumn('size', 'size', 12),
    numberColumn('usd', 'size_usd', 12),
    textColumn('outcome', 'outcome', 24),
  ],
  whales: [
    textColumn('side', 'side', 4),
    numberColumn('price', 'price'),
    numberColumn('usd', 'size_usd', 12),
    textColumn('question', 'question', 60),
  ],
  lifecycle: [
    textColumn('event', 'event', 9),
    textColumn('status', 'status', 9),
    textColumn('question', 'question', 60),
  ],
  arbitrage: [
    textColumn('event', 'event', 7),
    numberColumn('profit', 'profit_usd', 9),
    numberColumn('contracts', 'contracts', 10),
    numberColumn('edge', 'edge'),
    textColumn('kind', 'kind', 12),
    textColumn('question', 'question', 60),
  ],
  candles: [
    textColumn('interval', 'interval', 8),
    numberColumn('open', 'open'),
    numberColumn('high', 'high'),
    numberColumn('low', 'low'),
    numberColumn('close', 'close'),
    numberColumn('volume', 'volume', 12),
  ],
}

const ANY: readonly Column[] = [
  TYPE,
  {
    heading: 'data',
    width: 120,
    textOf: (data) =>
      Object.entries(data)
        .filter(([, value]) => typeof value !== 'object')
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
  },
]

const columnsOf = (channel: string): readonly Column[] => [
  TIME,
  MARKET,
  ...(COLUMNS[channel] ?? ANY),
]

export function headingOf(channel: string): string {
  return lineOf(columnsOf(channel), ({ heading }) => heading)
}

export function rowOf(channel: string, message: unknown): string | null {
  if (!isRecord(message)) return null
  const { type, market_id: market = 'all markets', platform, state, reason } = message
  if (type === 'status') {
    return `-- ${platform} is ${state}${reason === undefined ? '' : ` (${reason})`}`
  }
  if (type === 'stale') return `-- ${market}: may be out of date (${reason})`
  if (type === 'fresh') return `-- ${market}: is up to date`
  if (type === 'resync') return `-- ${market}: begins anew (${reason})`
  if (type === 'gap') return `-- ${platform ?? market}: messages are missing`
  const { data } = message
  if (!isRecord(data)) return null
  return lineOf(columnsOf(channel), ({ textOf }) => textOf(data, message))
}

function lineOf(columns: readonly Column[], textOf: (column: Column) => unknown): string {
  const cells = columns.map((column) => {
    const { width, isNumber = false } = column
    const text = printable(textOf(column) ?? '-')
    const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text
    return isNumber ? cut.padStart(width) : cut.padEnd(width)
  })
  return cells.join('  ').trimEnd()
}

/** Escapes a venue's text, which may contain terminal control characters. */
function printable(value: unknown): string {
  return String(value).replace(/\p{C}/gu, '?')
}

function clockTime(timeMs: unknown): string {
  return typeof timeMs === 'number' ? new Date(timeMs).toISOString().slice(11, 23) : '-'
}

function levels(value: unknown): string {
  const [first, ...more]: readonly unknown[] = Array.isArray(value) ? value : []
  if (!isRecord(first)) return '-'
  const text = `${first.size} at ${first.price}`
  return more.length === 0 ? text : `${text} (+${more.length})`
}
