// Entry module of the matching thread. Keeps one index and one pair graph between tasks, runs at a lower priority than
// the main thread, and has a sentence encoder if its first task contains a folder. Texts are encoded before their
// markets are indexed, so that scoring is synchronous.

import { lowerThreadPriority } from '../process/thread-priority.ts'
import { encodedScorer, textsOf } from './encoder/encoded-scorer.ts'
import { openEncoder, type RefusedEncoder } from './encoder/encoder-folder.ts'
import type { Encoder, EncoderCounts } from './encoder/sentence-encoder.ts'
import type { MatchResult, MatchTask } from './match-task.ts'
import { openPairFinder, PairFinder } from './search/pair-finder.ts'

/** A task with the encoder's folder; null without an encoder. A null `task` only opens the encoder. */
export interface ThreadTask {
  readonly folder: string | null
  readonly task: MatchTask | null
}

/** Result of a task; `lost` for a null task. `counts` are those since the previous task; null without an encoder. */
export type ThreadAnswer =
  | { readonly kind: 'done'; readonly result: MatchResult; readonly counts: EncoderCounts | null }
  | RefusedEncoder

lowerThreadPriority(10)

interface Open {
  readonly encoder: Encoder | null
  readonly finder: Pick<PairFinder<unknown>, 'run'>
}

let open: Open | null = null

export default async function run({ folder, task }: ThreadTask): Promise<ThreadAnswer> {
  const opened = open ?? (await openFinder(folder))
  if ('kind' in opened) return opened
  open = opened
  const { encoder, finder } = opened
  if (task?.kind === 'change') {
    await encoder?.read(task.put.flatMap(({ market }) => textsOf(market)))
  }
  const result = task === null ? 'lost' : finder.run(task)
  return { kind: 'done', result, counts: encoder?.takeCounts() ?? null }
}

async function openFinder(folder: string | null): Promise<Open | RefusedEncoder> {
  if (folder === null) return { encoder: null, finder: openPairFinder() }
  const opened = await openEncoder(folder)
  if (opened.kind === 'refused') return opened
  return { encoder: opened.encoder, finder: new PairFinder(encodedScorer(opened)) }
}
