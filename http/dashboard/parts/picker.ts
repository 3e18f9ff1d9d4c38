// Search fields whose results are chosen from a list (ARIA combobox).

import { useEffect, useId, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { after } from '../browser.ts'
import { shortId } from '../format.ts'
import { html } from '../html.ts'
import type { Market, MarketPage, RankedWallet } from '../records.ts'
import { typed } from './forms.ts'
import { settle } from './requests.ts'
import { describeError } from './states.ts'
import { venueText } from './venues.ts'

export interface Choice {
  readonly value: string
  readonly text: string
  /** Shown after the text, such as the venue. */
  readonly note: string
}

type Search = (text: string, signal: AbortSignal) => Promise<readonly Choice[]>

interface PickerProps {
  readonly label: string
  readonly placeholder: string
  /** A change repeats the search. */
  readonly search: Search
  readonly choose: (choice: Choice) => void
}

const PAUSE_MS = 250
const CHOICES_MAX = 8
/** The server rejects shorter search texts. */
const TEXT_LENGTH_MIN = 2

/** Arrow keys select a result, Enter or a click chooses it, Escape and leaving the field close the list. */
export function Picker({ label, placeholder, search, choose }: PickerProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const [isFocused, setIsFocused] = useState(false)
  const { choices, error } = useChoices(search, text)
  const isOpen = isFocused && choices !== null && choices.length > 0
  const state =
    error === null ? resultsText(isFocused ? choices : null) : describeError(error).title
  const take = (choice: Choice | undefined) => {
    if (choice === undefined) return
    setText('')
    choose(choice)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      // Enter does not submit the form around the field.
      event.preventDefault()
      if (isOpen) take(choices[selected])
    } else if (event.key === 'Escape') setText('')
    else if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : choices.length - 1
      setSelected((selected + step) % choices.length)
    }
  }
  const onInput = (event: Event) => {
    setText(typed(event))
    setSelected(0)
  }
  const onBlur = () => {
    setIsFocused(false)
    setSelected(0)
  }
  return html`<div class="field picker">
    <label for=${id}>${label}</label>
    <input id=${id} type="search" role="combobox" aria-autocomplete="list" aria-expanded=${String(isOpen)} aria-controls=${`${id}-list`}
      aria-activedescendant=${isOpen ? `${id}-${selected}` : null} autocomplete="off" spellcheck=${false}
      placeholder=${placeholder} value=${text} onInput=${onInput} onKeyDown=${onKeyDown}
      onFocus=${() => setIsFocused(true)} onBlur=${onBlur} />
    <ul id=${`${id}-list`} role="listbox" aria-label="Results" hidden=${!isOpen}>
      ${choices?.map(
        (choice, index) => html`<li
          key=${choice.value} id=${`${id}-${index}`} role="option" aria-selected=${String(index === selected)} data-value=${choice.value}
          onMouseDown=${(event: Event) => event.preventDefault()} onClick=${() => take(choice)}
        >${choice.text} <span class="muted">${choice.note}</span></li>`,
      )}
    </ul>
    <small class="muted" role="status">${state}</small>
  </div>`
}

function resultsText(choices: readonly Choice[] | null): string {
  if (choices === null) return ''
  if (choices.length === 0) return 'Nothing found.'
  return choices.length === 1 ? '1 result.' : `${choices.length} results.`
}

interface Found {
  /** Null before the response, and if the search failed. */
  readonly choices: readonly Choice[] | null
  readonly error: unknown
}

const NOTHING: Found = { choices: null, error: null }

function useChoices(search: Search, text: string): Found {
  const wanted = text.trim()
  const [found, setFound] = useState({ ...NOTHING, search, wanted })
  useEffect(() => {
    setFound({ ...NOTHING, search, wanted })
    if (wanted.length < TEXT_LENGTH_MIN) return undefined
    const ending = new AbortController()
    const stop = after(PAUSE_MS, () =>
      settle(
        search(wanted, ending.signal),
        ending.signal,
        (choices) => setFound({ choices, error: null, search, wanted }),
        (error) => setFound({ choices: null, error, search, wanted }),
      ),
    )
    return () => {
      stop()
      ending.abort()
    }
  }, [search, wanted])
  // The effect that drops the results of earlier inputs runs after the render.
  return found.search === search && found.wanted === wanted ? found : NOTHING
}

const choiceOf = ({ id, question, platforms, status }: Market): Choice => {
  const venue = venueText(platforms[0]?.platform)
  return { value: id, text: question, note: status === 'open' ? venue : `${venue}, ${status}` }
}

/** Markets of a venue, or of both venues if `platform` is null. */
export const searchMarkets =
  (platform: string | null): Search =>
  async (search, signal) => {
    const query = { search, platform, sort_by: 'relevance', limit: CHOICES_MAX }
    const page = await request<MarketPage>('/v1/markets/search', { query, signal })
    return page.markets.map(choiceOf)
  }

/** A typed address, and wallets of the ranking by name or address. */
export const searchWallets: Search = async (text, signal) => {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return [{ value: text.toLowerCase(), text, note: 'address' }]
  const query = { limit: RANKED_MAX, sort_by: 'volume' }
  const { wallets } = await request<{ readonly wallets: readonly RankedWallet[] }>('/v1/wallets', {
    ...{ query, signal },
  })
  const wanted = text.toLowerCase()
  return wallets
    .flatMap(({ address, handle, pseudonym }) => {
      const names = [handle, pseudonym].flatMap((name) => filled(name) ?? [])
      const isFound = [...names, address].some((name) => name.toLowerCase().includes(wanted))
      return isFound ? [{ value: address, text: names[0] ?? address, note: shortId(address) }] : []
    })
    .slice(0, CHOICES_MAX)
}

/** Maximum wallets of the ranking in a response. */
export const RANKED_MAX = 200

/** Null for a blank text. */
export const filled = (text: string | null): string | null =>
  text === null || text.trim() === '' ? null : text

const NAMES_MAX = 1_000

const names = new Map<string, Promise<string>>()

/** The market's question. Shows the id until it has loaded, and for an unknown market. */
export function MarketName({ id }: { readonly id: string }) {
  const [name, setName] = useState(id)
  useEffect(() => {
    let isUnmounted = false
    setName(id)
    nameOf(id).then((question) => isUnmounted || setName(question))
    return () => {
      isUnmounted = true
    }
  }, [id])
  return html`<span title=${id}>${name}</span>`
}

function nameOf(id: string): Promise<string> {
  const known = names.get(id)
  if (known !== undefined) return known
  if (names.size >= NAMES_MAX) names.clear()
  const name = request<Market>(`/v1/markets/${encodeURIComponent(id)}`).then(
    ({ question }) => question,
    () => {
      names.delete(id)
      return id
    },
  )
  names.set(id, name)
  return name
}
