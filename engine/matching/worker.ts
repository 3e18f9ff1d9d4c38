// The thread of the matcher: one index and one choice, kept between tasks, at lower priority than the loop; with a sentence
// encoder where its first task names a folder. Texts are read before their markets are filed, so that pairs are judged without
// waiting.

import { lowerThreadPriority } from '../process/thread-priority.ts'
import { encodedScorer, textsOf } from './encoder/encoded-scorer.ts'
import { openEncoder, type RefusedEncoder } from './encoder/encoder-folder.ts'
import type { Encoder, EncoderCounts } from './encoder/sentence-encoder.ts'
import type { MatchResult, MatchTask } from './match-task.ts'
import { openPairFinder, PairFinder } from './search/pair-finder.ts'

/** A task with the folder of the encoder, or null for none; a task of null only opens it. */
export interface ThreadTask {
  readonly folder: string | null
  readonly task: MatchTask | null
}

/** What a task did (nothing was known before the first), and what became of texts since the one before. */
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
