// Reads exported hours from a running service over REST.

import { type Clock, pause } from '../../clock.ts'
import { EngineError } from '../../errors.ts'
import { isRecord } from '../../json-record.ts'
import { HOUR_US, hourOf, US_PER_MS } from '../../tape/layout.ts'
import { isManifest, type Manifest } from '../../tape/manifest.ts'
import { formatTime, timeMs } from '../../units.ts'
import type { ExportSource, SourceHour } from '../export/export-source.ts'

interface ServiceParts {
  readonly url: URL
  readonly key: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Attempts of a request that the service rejects with 429 or 503. */
const ATTEMPTS = 10
const WAIT_MS_MAX = 60_000
const DAY_US = 24 * HOUR_US
const NAME = /^[\w-]+$/

export function serviceSource(parts: ServiceParts): ExportSource {
  return {
    platforms: async () => (await tapeOf(parts))?.platforms ?? [],
    async hours({ fromUs, toUs }) {
      const tape = await tapeOf(parts)
      if (tape === null) return []
      const begin = Math.max(fromUs, hourOf(tape.oldestUs))
      const end = Math.min(toUs, parts.clock.nowMs() * US_PER_MS)
      const hours = await listedHours(parts, begin, end)
      const listed = new Set(hours.map(nameOf))
      for (let startUs = begin; startUs < end; startUs += HOUR_US) {
        for (const platform of tape.platforms) {
          const hour = unlistedHour(platform, startUs)
          if (!listed.has(nameOf(hour))) hours.push(hour)
        }
      }
      return hours.sort((one, other) => one.startUs - other.startUs)
    },
    async *file({ platform, date, hour }, { table, format }, isPartial) {
      const name = `${String(hour).padStart(2, '0')}.${format}?partial=${isPartial}`
      const { body } = await request(parts, `/v1/export/${platform}/${table}/${date}/${name}`)
      if (body !== null) for await (const chunk of body) yield chunk
    },
  }
}

/** Null: the service has no tape, or an empty one. */
async function tapeOf(
  parts: ServiceParts,
): Promise<{ readonly platforms: readonly string[]; readonly oldestUs: number } | null> {
  const stats: unknown = await (await request(parts, '/v1/stats')).json()
  if (!isRecord(stats) || !isRecord(stats.tape) || !isRecord(stats.coverage)) return null
  const { oldest_ms: oldestMs } = stats.tape
  if (typeof oldestMs !== 'number') return null
  const platforms = Object.keys(stats.coverage).filter((name) => NAME.test(name))
  return { platforms, oldestUs: oldestMs * US_PER_MS }
}

/** The final hours that begin in [beginUs, endUs). */
async function listedHours(
  parts: ServiceParts,
  beginUs: number,
  endUs: number,
): Promise<SourceHour[]> {
  const hours: SourceHour[] = []
  for (let dayUs = beginUs - (beginUs % DAY_US); dayUs < endUs; dayUs += DAY_US) {
    const query = `date=${isoOf(dayUs).slice(0, 10)}&limit=1000`
    const body: unknown = await (await request(parts, `/v1/export?${query}`)).json()
    const listed = isRecord(body) && Array.isArray(body.hours) ? body.hours : []
    hours.push(...listed.filter(isManifest).flatMap(listedHour))
  }
  return hours.filter(({ startUs }) => startUs >= beginUs && startUs < endUs)
}

const nameOf = ({ platform, startUs }: SourceHour): string => `${platform} ${startUs}`

/** Null or one hour. Its names become part of file names, so they are validated. */
function listedHour(manifest: Manifest): readonly SourceHour[] {
  const { platform, date, hour } = manifest
  const startUs = Date.parse(`${date}T${String(hour).padStart(2, '0')}:00:00Z`) * US_PER_MS
  const isValid = NAME.test(platform) && /^\d{4}-\d\d-\d\d$/.test(date)
  return isValid && Number.isSafeInteger(startUs)
    ? [{ platform, date, hour, startUs, manifest }]
    : []
}

/** The service lists final hours only. An hour that it does not list may be current or missing. */
function unlistedHour(platform: string, startUs: number): SourceHour {
  const iso = isoOf(startUs)
  const [date, hour] = [iso.slice(0, 10), Number(iso.slice(11, 13))]
  return { platform, date, hour, startUs, manifest: null }
}

const isoOf = (us: number): string => formatTime(timeMs(us / US_PER_MS))

async function request({ url, key, clock, signal }: ServiceParts, path: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, url), {
      ...{ headers: { 'X-API-Key': key }, redirect: 'error', signal },
    }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw new EngineError('UNAVAILABLE', `no service answers at ${url.origin}`, { cause })
    })
    if (response.status === 200) return response
    const body: unknown = await response.json().catch(() => null)
    const isBusy = response.status === 429 || response.status === 503
    if (!isBusy || attempt === ATTEMPTS) throw refusalOf(response.status, body)
    const seconds = Number(response.headers.get('Retry-After'))
    await pause(clock, Math.min(Math.max(seconds, 1) * 1_000, WAIT_MS_MAX), signal)
    signal.throwIfAborted()
  }
}

function refusalOf(status: number, body: unknown): EngineError {
  const detail = isRecord(body) && typeof body.detail === 'string' ? body.detail : ''
  const text = `the service answered ${status}: ${detail || 'no reason'}`
  if (status === 404) return new EngineError('NOT_FOUND', text)
  if (status === 409) return new EngineError('NOT_FINAL', text)
  return new EngineError(status < 500 ? 'FORBIDDEN' : 'UNAVAILABLE', text)
}
