import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { seededRandom } from '../../../engine/random.ts'
import { ApiError, fieldOf } from '../../../http/dashboard/api.ts'
import {
  countText,
  durationText,
  gapText,
  percentText,
  priceDecimals,
  priceText,
  roundUsdText,
  sizeDecimals,
  sizeText,
  stepDecimals,
  timeText,
  usdText,
  utcText,
  volumeText,
  zoneText,
} from '../../../http/dashboard/format.ts'
import { PAGES } from '../../../http/dashboard/page-names.ts'
import { describeError } from '../../../http/dashboard/parts/states.ts'
import { hrefOf, parseRoute } from '../../../http/dashboard/route.ts'

const FOLDER = new URL('../../../http/dashboard/', import.meta.url)

test('accesses timers, storage, location and navigator in browser.ts and in no other module that can import it', () => {
  const surroundings =
    /\b(?:setTimeout|setInterval|requestAnimationFrame|sessionStorage|localStorage|indexedDB)\b|\bnavigator\b|\bdocument\.cookie\b|\b(?:window|globalThis)?\.?location\.|\bDate\.now\(|\bperformance\.now\(|\binnerHTML\b|\bdangerouslySetInnerHTML\b|\beval\(/
  const offenders = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== 'browser.ts' && path !== 'start-theme.ts')
    .filter((path) => {
      const source = readFileSync(new URL(path, FOLDER), 'utf8')
      return surroundings.test(source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, ''))
    })
  assert.deepEqual(offenders, [])
})

test('shows a specific message for each API error, with the server’s text and the time to wait', () => {
  const textOf = (status: number, wait: number | null = null) => {
    const { title, detail } = describeError(new ApiError(status, 'the reason', new Map(), wait))
    assert.match(detail, /the reason/i)
    return `${title} ${detail}`
  }
  const statuses = [0, 400, 401, 404, 429, 500, 503]
  const titles = statuses.map((status) => describeError(new ApiError(status, 'x')).title)
  assert.equal(new Set(titles).size, titles.length - 1, 'only 500 and 503 share theirs')
  assert.match(textOf(429, 42), /Again in 42 s/)
  assert.match(textOf(0), /No connection/)
  assert.match(describeError(new TypeError('ours')).detail, /ours/)
})

test('finds the form field of a validation error, including errors of list entries', () => {
  assert.equal(fieldOf(['body', 'url']), 'url')
  assert.equal(fieldOf(['body', 'filters', 'categories', 3]), 'categories')
  assert.equal(fieldOf(['query', 'limit']), 'limit')
  assert.equal(fieldOf(['body', 17]), 'body')
  assert.equal(fieldOf(['body']), 'body')
})

test('restores a page, its subject and its query from the URL', () => {
  assert.equal(parseRoute('').page, 'opportunities')
  assert.equal(parseRoute('#').page, 'opportunities')
  assert.equal(parseRoute('#/nothing').page, 'unknown')
  assert.equal(parseRoute('#/markets?q=a%20b').query.get('q'), 'a b')
  assert.equal(parseRoute('#/market/%zz').subject, '%zz')
  const random = seededRandom('addresses')
  const letters = ['a', '/', '?', '#', '%', '&', '=', ' ', 'ü', '😀', '<', '"', '_', '0']
  const text = () =>
    Array.from({ length: 1 + random.below(9) }, () => random.pick(letters)).join('')
  for (let round = 0; round < 500; round += 1) {
    const [page, subject, value] = [random.pick(PAGES), text(), text()]
    const route = parseRoute(hrefOf(page, subject, { q: value, none: null, empty: '' }))
    assert.deepEqual(
      [route.page, route.subject, [...route.query]],
      [page, subject, [['q', value]]],
      hrefOf(page, subject, { q: value }),
    )
  }
})

test('formats numbers with units, and unknown values as a dash', () => {
  const texts = [priceText, gapText, sizeText, usdText, roundUsdText, countText, percentText]
  for (const write of [...texts, durationText]) {
    assert.equal(write(null), '–')
    assert.equal(write(undefined), '–')
    assert.doesNotMatch(write(0), /–|NaN/)
  }
  assert.equal(priceText(0.5325), '53.25¢')
  assert.equal(priceText(0.29), '29¢')
  assert.equal(priceText(0.29, 1), '29.0¢')
  assert.equal(priceText(0.5325, 1), '53.25¢')
  assert.equal(priceText(null, 2), '–')
  assert.equal(priceDecimals([0.29, 0.5, 0.533]), 1)
  assert.equal(priceDecimals([]), 0)
  const digits = (text: string) => text.replaceAll(/\D/g, '')
  assert.equal(digits(sizeText(234.5)), '2345')
  assert.equal(digits(sizeText(234)), '234')
  assert.equal(digits(sizeText(1_234.5)), '1235', 'no decimals from 1,000 on')
  assert.equal(digits(sizeText(1_234.5, sizeDecimals([3, 1_234.5]))), '123450')
  assert.equal(digits(sizeText(1_234, sizeDecimals([3, 1_234]))), '1234')
  assert.equal(gapText(0.015), '+1.5¢')
  assert.equal(gapText(-0.02, 1), '−2.0¢')
  assert.equal(gapText(0), '0¢')
  assert.deepEqual([0.01, 0.001, 0.0001, 0.05, null].map(stepDecimals), [0, 1, 2, 0, 0])
  assert.equal(usdText(-3.5), usdText(3.5).replace(/^/, '−'))
  assert.equal(roundUsdText(5.8), usdText(5.8))
  assert.equal(volumeText(5.8, 'usd_traded'), usdText(5.8))
  assert.match(volumeText(12_345, 'usd_notional'), /^12[.,]3\s?\S+ contracts$/)
  assert.equal(volumeText(null, 'usd_notional'), usdText(null))
  assert.equal(percentText(0.1234), '12.3 %')
  const lengths = [0, 999, 1_000, 119_000, 120_000, 7_200_000, 172_800_000]
  assert.deepEqual(lengths.map(durationText), [
    ...['0 ms', '999 ms', '1 s', '119 s', '2 min', '2 h', '2 d'],
  ])
  const noon = Date.UTC(2026, 10, 22, 12, 0, 0, 7)
  assert.equal(utcText(noon), '2026-11-22 12:00:00.007 UTC')
  for (const style of ['clock', 'day', 'full'] as const) assert.ok(timeText(noon, style).length > 5)
  for (const style of ['clock', 'full'] as const)
    assert.doesNotMatch(timeText(noon, style), /[AP]M/i, '24-hour clock')
  assert.equal(zoneText(noon, 'Europe/Berlin'), 'Europe/Berlin (GMT+1)')
  assert.equal(zoneText(noon, 'America/New_York'), 'America/New York (GMT-5)')
  for (const name of ['UTC', 'Etc/UTC', 'GMT']) assert.equal(zoneText(noon, name), 'UTC')
  assert.equal(zoneText(noon), zoneText(noon, Intl.DateTimeFormat().resolvedOptions().timeZone))
})
