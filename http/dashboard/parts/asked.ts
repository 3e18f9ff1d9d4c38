// An answer of the server that a part of the page shows: asked for when the part appears or what it asks for changes,
// given up when it goes. Upholds DASH4.

import { useEffect, useState } from 'preact/hooks'

export type Asked<Answer> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `again` asks once more; meanwhile the old answer stays. */
export function useAsked<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
): Asked<Answer> & { readonly again: () => void } {
  const [asked, setAsked] = useState<Asked<Answer>>({ kind: 'waiting' })
  const [round, setRound] = useState(0)
  useEffect(() => setAsked({ kind: 'waiting' }), inputs)
  useEffect(() => {
    const ending = new AbortController()
    ask(ending.signal).then(
      (answer) => ending.signal.aborted || setAsked({ kind: 'answered', answer }),
      (error: unknown) => ending.signal.aborted || setAsked({ kind: 'failed', error }),
    )
    return () => ending.abort()
  }, [...inputs, round])
  return { ...asked, again: () => setRound((count) => count + 1) }
}
