// Published whales by run and offset, for streams that resume. Whales never expire, so the end of a run can be read
// from the table itself.

import type { OffsetQuery, SliceQuery, Storage, WhaleRow } from '../../storage/contract/storage.ts'
import type { RunView, WhaleLogView } from '../views.ts'

export class WhaleLog implements WhaleLogView {
  readonly present: RunView
  readonly #storage: Pick<Storage, 'runs' | 'whales'>

  constructor(parts: { run: RunView; storage: Pick<Storage, 'runs' | 'whales'> }) {
    this.present = parts.run
    this.#storage = parts.storage
  }

  runs(): readonly RunView[] {
    const { runs, whales } = this.#storage
    return runs.all().map((run) => {
      const isPresent = run.number === this.present.number
      return { ...run, endOffset: isPresent ? null : whales.newestOffset(run.number) }
    })
  }

  range(query: OffsetQuery): readonly WhaleRow[] {
    return this.#storage.whales.rangeByOffset(query)
  }

  history(query: SliceQuery): readonly WhaleRow[] {
    return this.#storage.whales.range(query)
  }

  historyOfMarket(query: SliceQuery & { readonly market: number }): readonly WhaleRow[] {
    return this.#storage.whales.rangeOfMarket(query)
  }

  oldestMs() {
    return this.#storage.whales.oldestMs()
  }
}
