// URLs for server-side request forgery (hostile-urls.json). Tests supply the port of a server that detects requests.

import { readFileSync } from 'node:fs'

const DATA: {
  readonly loopback: readonly string[]
  readonly inside: readonly string[]
  readonly namesInside: Readonly<Record<string, readonly string[]>>
  readonly ambiguousUrls: readonly string[]
} = JSON.parse(readFileSync(new URL('./hostile-urls.json', import.meta.url), 'utf8'))

/** Spellings of 127.0.0.1 that `new URL` normalizes to that address. */
export const LOOPBACK_V4 = DATA.loopback

/** Other internal addresses, and IPv6 addresses that embed them. */
export const INSIDE = DATA.inside

/** Harmless-looking names with their resolved addresses. Each list contains an internal address. */
export const NAMES_INSIDE: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(DATA.namesInside),
)

/** URLs that one parser reads as example.com and another as loopback, and similar unusual URLs. */
export function ambiguousUrls(port: number): readonly string[] {
  return DATA.ambiguousUrls.map((url) => url.replaceAll('{port}', String(port)))
}
