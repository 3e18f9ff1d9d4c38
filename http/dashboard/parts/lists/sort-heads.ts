// The head of a table whose columns can be sorted by: a button in each, and an arrow in the one that counts.

import { html } from '../../html.ts'

/** By which column a table is sorted, and whether the largest comes first. */
export interface Order<Column extends string> {
  readonly column: Column
  readonly isDown: boolean
}

/**
 * The column by its name in the order, null for one that is not sorted by; its heading; `num` for figures, `spare` for what
 * a tablet has no room for.
 */
type Columns<Column extends string> = readonly (readonly [
  Column | null,
  string,
  '' | 'num' | 'spare' | 'num spare',
])[]

/** Figures begin with the largest, all else with the least; pressed again, the other way round. */
export function sortHeads<Column extends string>(
  columns: Columns<Column>,
  order: Order<Column>,
  choose: (order: Order<Column>) => void,
) {
  return html`<thead><tr>${columns.map(([column, name, kind]) => {
    if (column === null) return html`<th scope="col" class=${kind} key=${name}>${name}</th>`
    const way = order.column !== column ? null : order.isDown ? 'descending' : 'ascending'
    const isDown = way === null ? kind.startsWith('num') : !order.isDown
    return html`<th scope="col" class=${kind} key=${name} aria-sort=${way}>
      <button type="button" class="sort" onClick=${() => choose({ column, isDown })}>${name}${
        way === null ? null : html`<span aria-hidden="true">${order.isDown ? '↓' : '↑'}</span>`
      }</button></th>`
  })}</tr></thead>`
}
