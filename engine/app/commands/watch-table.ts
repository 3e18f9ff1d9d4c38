import { isRecord } from '../../json-record.ts'

type Fields = Readonly<Record<string, unknown>>

interface Column {
  readonly heading: string
  readonly width: number
  readonly isNumber?: boolean
  /** Whether the column takes the columns of the terminal above 80, and is cut in its middle. */
  readonly isFlexible?: boolean
  readonly textOf: (data: Fields, message: Fields) => unknown
}

const numberColumn = (heading: string, name: string, width = 6): Column => {
  return { heading, width, isNumber: true, textOf: (data) => data[name] }
}
const textColumn = (heading: string, name: string, width: number): Column => {
  return { heading, width, textOf: (data) => data[name] }
}
const side = (heading: string, name: 'bids' | 'asks'): Column => {
  return { heading, width: 15, textOf: (data) => levels(data[name]) }
}

const TIME: Column = {
  heading: 'time (UTC)',
  width: 10,
  textOf: (data, { timestamp_ms }) => clockTime(timestamp_ms ?? data.timestamp_ms),
}
const MARKET: Column = {
  heading: 'market',
  width: 14,
  isFlexible: true,
  textOf: (_, { market_id }) => market_id,
}
const TYPE: Column = { heading: 'message', width: 8, textOf: (_, { type }) => type }
const BOOK = [TYPE, side('bids', 'bids'), side('asks', 'asks')]

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  orderbook: [...BOOK, numberColumn('spread', 'spread')],
  depth: [...BOOK, numberColumn('spread', 'spread')],
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
    numberColumn('size', 'size', 9),
    numberColumn('usd', 'size_usd', 9),
    textColumn('outcome', 'outcome', 16),
  ],
  whales: [
    textColumn('side', 'side', 4),
    numberColumn('price', 'price'),
    numberColumn('usd', 'size_usd', 9),
    textColumn('question', 'question', 27),
  ],
  lifecycle: [
    textColumn('event', 'event', 9),
    textColumn('status', 'status', 9),
    textColumn('question', 'question', 30),
  ],
  arbitrage: [
    textColumn('event', 'event', 7),
    numberColumn('profit', 'profit_usd', 7),
    numberColumn('contracts', 'contracts', 9),
    numberColumn('edge', 'edge'),
    textColumn('question', 'question', 15),
  ],
  candles: [
    textColumn('interval', 'interval', 8),
    numberColumn('open', 'open'),
    numberColumn('high', 'high'),
    numberColumn('low', 'low'),
    numberColumn('close', 'close'),
    numberColumn('volume', 'volume', 8),
  ],
}

const ANY: readonly Column[] = [
  TYPE,
  {
    heading: 'data',
    width: 42,
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

/** `terminalColumns`: width of the output, at least 80. */
export function headingOf(channel: string, terminalColumns: number): string {
  return lineOf(columnsOf(channel), terminalColumns, ({ heading }) => heading)
}

export function rowOf(channel: string, message: unknown, terminalColumns: number): string | null {
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
  return lineOf(columnsOf(channel), terminalColumns, ({ textOf }) => textOf(data, message))
}

function lineOf(
  columns: readonly Column[],
  terminalColumns: number,
  textOf: (column: Column) => unknown,
): string {
  const cells = columns.map((column) => {
    const { isNumber = false, isFlexible = false } = column
    const width = column.width + (isFlexible ? Math.max(0, terminalColumns - 80) : 0)
    const value = textOf(column) ?? '-'
    const text = typeof value === 'number' ? rounded(value, width) : printable(value)
    const cut = isFlexible ? cutMiddle(text, width) : cutEnd(text, width)
    return isNumber ? cut.padStart(width) : cut.padEnd(width)
  })
  return cells.join('  ').trimEnd()
}

/** The value with as many digits as fit, because a number that is cut at its end states another value. */
function rounded(value: number, width: number): string {
  for (let digits = 15; digits > 0; digits -= 1) {
    const text = String(Number(value.toPrecision(digits)))
    if (text.length <= width) return text
  }
  return String(value)
}

const cutEnd = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text

function cutMiddle(text: string, width: number): string {
  if (text.length <= width) return text
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${text.slice(-tail)}`
}

/** Escapes a venue's text, which may contain terminal control characters. */
function printable(value: unknown): string {
  return String(value).replace(/\p{C}/gu, '?')
}

function clockTime(timeMs: unknown): string {
  return typeof timeMs === 'number' ? new Date(timeMs).toISOString().slice(11, 19) : '-'
}

function levels(value: unknown): string {
  const [first, ...more]: readonly unknown[] = Array.isArray(value) ? value : []
  if (!isRecord(first)) return '-'
  const text = `${first.size} at ${first.price}`
  return more.length === 0 ? text : `${text} +${more.length}`
}
