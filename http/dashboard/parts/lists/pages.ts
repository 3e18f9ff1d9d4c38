// A list that the server gives in pages: the first when the part appears or what it asks for changes, a further one at
// the press of a button, and what went wrong with either.

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
  /** Asks for the page after the last one, or once more for the one that failed. */
  readonly more: () => void
  /** Asks for the list anew, from its beginning; the old one stays until then. */
  readonly again: () => void
}

const BEGINNING = { pages: [], isLoading: true, error: null } as const

/** The pages so far; they are dropped when `inputs` change. */
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

/** The button under a list, or what went wrong with its last page; nothing when all is shown. */
export function More({ paged }: { readonly paged: Omit<Paged<unknown>, 'pages'> }) {
  const { isLoading, error, hasMore, more } = paged
  if (error !== null) return html`<${Failure} error=${error} retry=${more} />`
  if (!hasMore) return null
  return html`<p><button type="button" class="more" aria-disabled=${isLoading} onClick=${more}>
    ${isLoading ? 'Loading…' : 'Show more'}
  </button></p>`
}
