// A wallet's PnL state as bytes: the sums, then tokens and markets, then every column of positions, markets
// and history, each a section (sections.ts). Opening validates enough that no later read can fail or loop
// for ever. It does not check that sums agree with rows: storage's checksums cover that.

import { IntegerColumn, SectionSource } from './columns.ts'
import { ComboHoldings } from './combos.ts'
import { Holdings, MarketTable, PositionTable } from './holdings.ts'
import { HISTORY_SECTIONS, PnlHistory } from './pnl-history.ts'
import { openSections, packSections } from './sections.ts'
import { TextTable } from './text-table.ts'

/** "acc" and the version of the layout and of the rules. A state of another version must be rebuilt. */
const MARK = 0x61_63_63_02
const TEXT_SECTIONS = 2

interface PnlStateParts {
  readonly sums: IntegerColumn
  readonly held: Holdings
  readonly combos: ComboHoldings
}

export function packPnlState({ sums, held, combos }: PnlStateParts): Uint8Array<ArrayBuffer> {
  const { position, market } = held
  return packSections(MARK, [
    sums.bytes(),
    ...held.tokens.sections(),
    ...held.markets.sections(),
    ...held.pnlHistory.sections(),
    ...combos.sections(),
    ...position.words.map((column) => column.bytes()),
    ...position.integers.map((column) => column.bytes()),
    ...market.words.map((column) => column.bytes()),
    ...market.integers.map((column) => column.bytes()),
  ])
}

/** Opens a PnL state over `bytes`, which it owns from then on. Null when they are damaged. */
export function openPnlState(bytes: Uint8Array, sumCount: number): PnlStateParts | null {
  const sections = openSections(MARK, bytes)
  if (sections === null) return null
  const rest = sections.values()
  const take = (count: number) => Array.from({ length: count }, () => rest.next().value ?? NOTHING)
  const [sumBytes = NOTHING] = take(1)
  const sums = IntegerColumn.over(sumBytes, sumCount)
  const tokens = openTexts(take(TEXT_SECTIONS))
  const markets = openTexts(take(TEXT_SECTIONS))
  const pnlHistory = PnlHistory.over(take(HISTORY_SECTIONS))
  const combos = ComboHoldings.over(take(TEXT_SECTIONS + 1))
  if (sums === null || tokens === null || markets === null || pnlHistory === null) return null
  const positionSource = new SectionSource(rest, tokens.count)
  const position = new PositionTable(positionSource)
  const marketSource = new SectionSource(rest, markets.count)
  const market = new MarketTable(marketSource)
  if (positionSource.isDamaged || marketSource.isDamaged || rest.next().done !== true) return null
  if (combos === null) return null
  const held = new Holdings({ tokens, markets, position, market, pnlHistory })
  return isLinked(held) ? { sums, held, combos } : null
}

const NOTHING = new Uint8Array(0)

function openTexts([packed, hashes]: readonly Uint8Array<ArrayBuffer>[]): TextTable | null {
  return packed === undefined || hashes === undefined ? null : TextTable.over(packed, hashes)
}

/** Whether rows refer to existing rows, and chains of positions go forward within their market. */
function isLinked({ tokens, markets, position, market }: Holdings): boolean {
  for (let row = 0; row < tokens.count; row += 1) {
    const next = position.next.at(row)
    if (position.market.at(row) >= markets.count) return false
    if (next === 0) continue
    if (next <= row + 1 || next > tokens.count) return false
    if (position.market.at(next - 1) !== position.market.at(row)) return false
  }
  for (let row = 0; row < markets.count; row += 1) {
    const first = market.first.at(row)
    if (first > tokens.count || (first > 0 && position.market.at(first - 1) !== row)) return false
  }
  return true
}
