// What a visitor sees before any account: in two sentences and a picture what Twinbook is, and how the service is right now,
// as /health says it to everyone. Not for: the forms beside it (pages/log-in-or-sign-up.ts). Upholds DASH88.

import { request } from '../api.ts'
import { durationText } from '../format.ts'
import { html } from '../html.ts'
import type { Health } from '../records.ts'
import { usePolled } from './asked.ts'
import { wholeVenueText } from './lists/venues.ts'
import { Figures } from './wallets/profile.ts'

/** Asked of everyone, and counted against nobody. */
const PERIOD_MS = 5_000
const askHealth = (signal: AbortSignal) => request<Health>('/health', { signal })

export function Welcome() {
  const { answer } = usePolled(askHealth, { periodMs: PERIOD_MS })
  return html`
    <h1>Twinbook</h1>
    <p>
      Two prediction markets, one screen: every market’s live order book, price and trades, in one form. Twinbook finds the
      questions that both venues ask, and shows what their prices differ by after fees.
    </p>
    ${PICTURE}
    ${
      answer === null
        ? null
        : html`<section aria-label="Right now"><${Figures} of=${[
            ...Object.entries(answer.exchanges).map(
              ([venue, isLive]) => [wholeVenueText(venue), isLive ? 'Live' : 'Connecting'] as const,
            ),
            ['Server delay', durationText(answer.delay_ms)],
            ['Uptime', durationText(answer.uptime_s * 1_000)],
          ]} /></section>`
    }
  `
}

/** One question at two venues, and the gap between their prices. */
const PICTURE = html`<svg class="picture" viewBox="0 0 400 120" role="img"
  aria-label="The same question costs 42 cents at one venue and 47 at the other: a gap of 5 cents">
  <g class="frame"><rect x="1" y="1" width="140" height="118" rx="10" /><rect x="259" y="1" width="140" height="118" rx="10" /></g>
  <g class="words"><text x="71" y="30">Rain on Friday?</text><text x="329" y="30">Friday: rain</text></g>
  <g class="cents"><text class="up" x="71" y="75">42¢</text><text class="down" x="329" y="75">47¢</text></g>
  <g class="words"><text x="71" y="102">Yes, asked</text><text x="329" y="102">Yes, bid</text></g>
  <path d="M150 60H250M242 53l8 7-8 7" /><text class="gap" x="200" y="46">+5¢</text>
</svg>`
