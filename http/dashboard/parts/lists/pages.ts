// A paged list: loads the first page on mount or when `inputs` change, and further pages on demand.

import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../../html.ts'
import { Failure } from '../states.ts'

interface Page {
  readonly cursor: string | null
}

interface Progress<Answer> {
  readonly pages: readonly Answer[]
  readonly isLoading: boolean
  readonly error: unknown
}

interface Paged<Answer> extends Progress<Answer> {
  readonly hasMore: boolean
  /** Loads the next page, or retries the failed one. */
  readonly more: () => void
  /** Reloads from the first page. The old pages stay visible until then. */
  readonly again: () => void
}

const BEGINNING = { pages: [], isLoading: true, error: null } as const

/** The pages so far; cleared when `inputs` change. */
export function usePages<Answer extends Page>(
  fetchPage: (cursor: string | null, signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
): Paged<Answer> {
  const [progress, setProgress] = useState<Progress<Answer>>(BEGINNING)
  const ending = useRef<AbortController | null>(null)
  const loadAfter = (pages: readonly Answer[], shown = pages) => {
    const own = new AbortController()
    ending.current?.abort()
    ending.current = own
    setProgress({ pages: shown, isLoading: true, error: null })
    fetchPage(pages.at(-1)?.cursor ?? null, own.signal).then(
      (answer) => {
        if (own.signal.aborted) return
        setProgress({ pages: [...pages, answer], isLoading: false, error: null })
      },
      (error: unknown) => {
        if (!own.signal.aborted) setProgress({ pages: shown, isLoading: false, error })
      },
    )
  }
  useEffect(() => {
    loadAfter([])
    return () => ending.current?.abort()
  }, inputs)
  const cursor = progress.pages.at(-1)?.cursor ?? null
  return {
    ...progress,
    hasMore: cursor !== null,
    more: () => progress.isLoading || loadAfter(progress.pages),
    again: () => progress.isLoading || loadAfter([], progress.pages),
  }
}

/** Button for the next page, or the error of the last one; nothing after the last page. */
export function More({ paged }: { readonly paged: Omit<Paged<unknown>, 'pages'> }) {
  const { isLoading, error, hasMore, more } = paged
  if (error !== null) return html`<${Failure} error=${error} retry=${more} />`
  if (!hasMore) return null
  return html`<p><button type="button" class="more" aria-disabled=${isLoading} onClick=${more}>
    ${isLoading ? 'Loading…' : 'Show more'}
  </button></p>`
}
