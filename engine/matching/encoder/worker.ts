// The thread of the matcher with a sentence encoder: it opens the encoder with its first task, and reads the texts of markets
// before they are filed, so that pairs are judged without waiting. Not for: the matcher without one (../worker.ts).

import { stepBack } from '../../process/thread-priority.ts'
import { PairFinder } from '../search/pair-finder.ts'
import type { MatchResult, MatchTask } from '../task.ts'
import { encodedJudge, textsOf } from './encoded-judge.ts'
import type { Encoder, EncoderCounts } from './encoder.ts'
import { openEncoder, type RefusedEncoder } from './encoder-folder.ts'

/** A task with the folder of the encoder; null only opens it. */
export interface EncodedTask {
  readonly folder: string
  readonly task: MatchTask | null
}

/** What a task did (nothing was known before the first), and what became of texts since the one before. */
export type EncodedAnswer =
  | { readonly kind: 'done'; readonly result: MatchResult; readonly counts: EncoderCounts }
  | RefusedEncoder

stepBack(10)

type Finder = Pick<PairFinder<unknown>, 'run'>

let open: { readonly encoder: Encoder; readonly finder: Finder } | null = null

export default async function run({ folder, task }: EncodedTask): Promise<EncodedAnswer> {
  if (open === null) {
    const opened = await openEncoder(folder)
    if (opened.kind === 'refused') return opened
    open = { encoder: opened.encoder, finder: new PairFinder(encodedJudge(opened)) }
  }
  const { encoder, finder } = open
  if (task?.kind === 'change') await encoder.read(task.put.flatMap(({ market }) => textsOf(market)))
  const result = task === null ? 'lost' : finder.run(task)
  return { kind: 'done', result, counts: encoder.takeCounts() }
}
