import { useState } from 'preact/hooks'
import { nowMs, saveFile } from '../browser.ts'
import { csvOf } from '../csv.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import { useAction } from './forms.ts'
import { Failure } from './states.ts'

/** The API's maximum of most lists. */
const EXPORT_PAGE_ROWS = 200
const EXPORT_PAGES_MAX = 25

export interface Exported {
  readonly rows: readonly object[]
  /** True if the list has more rows. */
  readonly isCut: boolean
}

/** Loads all rows of a list, at most 25 pages. */
export async function allRows<Page extends { readonly cursor: string | null }>(
  fetchPage: (cursor: string | null, limit: number) => Promise<Page>,
  rowsOf: (page: Page) => readonly object[],
): Promise<Exported> {
  const rows: object[] = []
  let cursor: string | null = null
  for (let count = 0; count < EXPORT_PAGES_MAX; count += 1) {
    const page: Page = await fetchPage(cursor, EXPORT_PAGE_ROWS)
    rows.push(...rowsOf(page))
    cursor = page.cursor
    if (cursor === null) break
  }
  return { rows, isCut: cursor !== null }
}

export type CsvRows = readonly object[] | Promise<Exported>

interface CsvButtonProps {
  /** Name of the list, part of the file's name and of the button's accessible name. */
  readonly name: string
  readonly rows: () => CsvRows
}

/** Saves the rows as a CSV file. */
export function CsvButton({ name, rows }: CsvButtonProps) {
  const { isRunning, error, run } = useAction()
  const [saved, setSaved] = useState<Exported | null>(null)
  const save = () =>
    run(async () => {
      setSaved(null)
      const found = await rows()
      const all: Exported = 'isCut' in found ? found : { rows: found, isCut: false }
      const day = new Date(nowMs()).toISOString().slice(0, 10)
      saveFile(`twinbook-${name.replaceAll(' ', '-')}-${day}.csv`, 'text/csv', csvOf(all.rows))
      setSaved(all)
    })
  return html`<div class="row csv">
    <span class="muted" role="status">${saved === null ? '' : savedText(saved)}</span>
    <button type="button" class="quiet" aria-disabled=${isRunning} aria-label=${`Save as CSV: ${name}`} onClick=${save}>
      ${isRunning ? 'Loading…' : 'Save as CSV'}
    </button>
  </div><${Failure} error=${error} />`
}

function savedText({ rows, isCut }: Exported): string {
  const count = `${countText(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`
  return isCut ? `Saved the first ${count}. Narrow the list for the rest.` : `Saved ${count}.`
}
