// Table head with sort buttons.

import { html } from '../html.ts'

/** Sort column and direction. */
export interface Order<Column extends string> {
  readonly column: Column
  readonly isDown: boolean
}

/** Sort key (null: not sortable), heading, and classes: `num` for figures, `spare` for columns hidden on tablets. */
type Columns<Column extends string> = readonly (readonly [
  Column | null,
  string,
  '' | 'num' | 'spare' | 'num spare',
])[]

/**
 * A first click sorts figures in descending order and other columns in ascending order. Another click
 * reverses the order.
 */
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
