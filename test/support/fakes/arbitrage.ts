import type { ArbitrageView, Quote } from '../../../actors/arbitrage/views.ts'
import type { Opportunity } from '../../../engine/opportunity.ts'
import { openMemoryStorage } from '../reference/memory.ts'

export class FakeArbitrage implements ArbitrageView {
  open: Opportunity[] = []
  quoted: Quote = { isPossible: false, reason: 'no_profit' }
  readonly table = openMemoryStorage().opportunities
  /** The query of the last `list` call. */
  asked: Parameters<ArbitrageView['list']>[0] | null = null

  list(query: Parameters<ArbitrageView['list']>[0]) {
    this.asked = query
    const { offset, limit } = query
    const end = offset + limit
    const next = end < this.open.length ? { pin: 1, offset: end } : null
    return { opportunities: this.open.slice(offset, end), total: this.open.length, next }
  }

  find(id: string) {
    return this.open.find((one) => one.id === id) ?? null
  }

  ofMarket(number: number) {
    return this.open.filter(({ legs }) => legs.some(({ market }) => market.number === number))
  }

  quote() {
    return this.quoted
  }

  past(query: Parameters<ArbitrageView['past']>[0]) {
    return this.table.range(query)
  }

  oldestPastMs() {
    return this.table.oldestMs()
  }
}
