import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .flatMap(({ id, impact, nodes }) => nodes.map(({ target, any, html }) =>
    [impact, id, target.join(' '), any[0]?.message ?? '', html.slice(0, 200)].join(' | '))))`

/** Returns one line for each problem: level, rule, element and description. */
export async function allProblems(page: Page): Promise<readonly string[]> {
  if (await page.evaluate<boolean>('!("axe" in window)')) await page.evaluate(SOURCE)
  return page.evaluate<readonly string[]>(RUN)
}
