import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { seededRandom } from '../../engine/random.ts'
import { wordsOf } from '../../engine/search/tokenizer.ts'
import { check, newTimes, record } from '../harness.ts'

export interface SearchLocation {
  readonly port: number
  readonly apiKey: string
  readonly some: readonly { readonly id: string; readonly question: string }[]
}

/** Kinds of requests: a page of a list, a page of search results, one market, or its price. */
export const QUESTIONS = ['list', 'search', 'one market', 'price'] as const
export type Question = (typeof QUESTIONS)[number]

const LISTS = [
  '?limit=20',
  '?limit=20&sort_by=created_at',
  '?limit=20&platform=venue_a',
  '?limit=20&platform=venue_b&sort_by=close_time&order=asc',
  '?limit=20&offset=100',
]

/** Returns the time of each request, from the first sent byte to the last received one. */
export async function ask(
  position: SearchLocation,
  question: Question,
  count: number,
): Promise<{ readonly times: Histogram; readonly paths: readonly string[] }> {
  const random = seededRandom(`scale ${question}`)
  const times = newTimes()
  const paths = Array.from({ length: count }, (_, index) =>
    pathOf(position, question, index, random),
  )
  for (const path of paths) {
    const startedMs = systemClock.monotonicMs()
    const { status, text } = await answerTo(position, path)
    record(times, systemClock.monotonicMs() - startedMs)
    check(status === 200, `${path} was answered by ${status}: ${text.slice(0, 200)}`)
    checkAnswer(question, path, text)
  }
  return { times, paths }
}

const SEARCHABLE_MS_MAX = 120_000
const SEARCH_AGAIN_MS = 50

/** Milliseconds until a search succeeds. Searches are rejected until all texts are indexed. */
export async function untilSearchable(position: SearchLocation): Promise<number> {
  const path = pathOf(position, 'search', 0, seededRandom('scale first search'))
  const startedMs = systemClock.monotonicMs()
  for (;;) {
    const { status, text } = await answerTo(position, path)
    const tookMs = systemClock.monotonicMs() - startedMs
    if (status === 200) {
      checkAnswer('search', path, text)
      return tookMs
    }
    const isWaiting = status === 503 && tookMs < SEARCHABLE_MS_MAX
    check(isWaiting, `${path} was answered by ${status} after ${Math.round(tookMs)} ms: ${text}`)
    await pause(SEARCH_AGAIN_MS)
  }
}

function pathOf(
  { some }: SearchLocation,
  question: Question,
  index: number,
  random: ReturnType<typeof seededRandom>,
): string {
  if (question === 'list') return `/v1/markets${LISTS[index % LISTS.length]}`
  const { id, question: terms } = random.pick(some)
  if (question === 'one market') return `/v1/markets/${id}`
  if (question === 'price') return `/v1/markets/${id}/price`
  const long = wordsOf(terms).filter(({ length }) => length > 2)
  const picked = Array.from({ length: 2 }, () => random.pick(long))
  return `/v1/markets/search?limit=20&search=${encodeURIComponent(picked.join(' '))}`
}

function checkAnswer(question: Question, path: string, text: string): void {
  if (question === 'one market') {
    const { id }: { id: string } = JSON.parse(text)
    return check(path === `/v1/markets/${id}`, `${path} answered ${id}`)
  }
  if (question === 'price') {
    const { market_id: id }: { market_id: string } = JSON.parse(text)
    return check(path === `/v1/markets/${id}/price`, `${path} answered ${id}`)
  }
  const { markets }: { markets: readonly unknown[] } = JSON.parse(text)
  check(markets.length > 0, `${path} answered no market`)
}

async function answerTo({ port, apiKey }: SearchLocation, path: string) {
  const headers = { 'X-API-Key': apiKey }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  return { status: response.status, text: await response.text() }
}
