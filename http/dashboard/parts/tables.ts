// Tables: columns with headings and cells, sort buttons, and rows with a part below them.

import { Component } from 'preact'
import { html, type Shown } from '../html.ts'

/** Sort column and direction. */
export interface Order<Key extends string> {
  readonly column: Key
  readonly isDown: boolean
}

/**
 * Heading, classes and content of a column's cells. Classes: `num` for figures, `spare` for columns that are hidden
 * on tablets, `subject` for the heading of a row. On phones, cells show the heading or `label` (null: nothing), but not cells with
 * the classes `question`, `wide` and `actions`. The heading of `actions` is for screen readers.
 */
export type Column<Row, Key extends string = string> = readonly [
  name: string,
  kind: string,
  cell: (row: Row) => Shown,
  set?: { readonly sort?: Key; readonly label?: string | null },
]

interface RowSet<Row> {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string | number
  /** Attributes of the row's element. */
  readonly marks?: (row: Row) => Readonly<Record<string, unknown>>
  /** Element after the row. */
  readonly below?: (row: Row) => Shown
  /** If given, a row rerenders only when its object or one of these values changes. */
  readonly inputs?: readonly unknown[]
}

interface TableProps<Row> extends RowSet<Row> {
  /** Classes besides `list`. */
  readonly kind?: string
  readonly caption?: Shown
  /** Replaces the headings. */
  readonly head?: Shown
  /** Attributes of the body. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Name of a region that the keyboard can scroll. */
  readonly region?: string
}

export function table<Row>({ kind = '', caption, head, body, region, ...set }: TableProps<Row>) {
  const isRegion = region !== undefined
  return html`<div class="scroll-x" tabindex=${isRegion ? 0 : null} role=${isRegion ? 'region' : null} aria-label=${region}>
    <table class=${`list ${kind}`}>
      ${typeof caption === 'string' ? html`<caption class="visually-hidden">${caption}</caption>` : caption}
      ${head ?? headings(set.columns)}
      <tbody ...${body}>${tableRows(set)}</tbody>
    </table>
  </div>`
}

export const tableRows = <Row>({ rows, keyOf, ...set }: RowSet<Row>) =>
  rows.map((row) => html`<${TableRow} key=${keyOf(row)} row=${row} ...${set} />`)

interface TableRowProps<Row> extends Omit<RowSet<Row>, 'rows' | 'keyOf'> {
  readonly row: Row
}

class TableRow<Row> extends Component<TableRowProps<Row>> {
  override shouldComponentUpdate({ row, inputs }: TableRowProps<Row>): boolean {
    const { props } = this
    return (
      row !== props.row ||
      inputs === undefined ||
      inputs.some((input, index) => input !== props.inputs?.[index])
    )
  }

  override render({ row, columns, marks, below }: TableRowProps<Row>) {
    return html`<tr ...${marks?.(row)}>${columns.map(([name, kind, cell, set]) =>
      /\bsubject\b/.test(kind)
        ? html`<th scope="row" class=${kind} key=${name}>${cell(row)}</th>`
        : html`<td class=${kind} key=${name} data-label=${set?.label !== undefined ? set.label : /question|wide|actions/.test(kind) ? null : name}>${cell(row)}</td>`,
    )}</tr>${below?.(row) ?? null}`
  }
}

/**
 * Headings, with sort buttons if `choose` is given. A first click sorts figures in descending order and other
 * columns in ascending order. Another click reverses the order.
 */
export function headings<Row, Key extends string>(
  columns: readonly Column<Row, Key>[],
  order: Order<string> | null = null,
  choose: (order: Order<Key>) => void = () => undefined,
) {
  return html`<thead><tr>${columns.map(([name, kind, , set]) => {
    const column = set?.sort
    const shared = kind.match(/num|spare/g)?.join(' ') ?? ''
    if (column === undefined || order === null) {
      return html`<th scope="col" class=${shared} key=${name}>${
        kind === 'actions' ? html`<span class="visually-hidden">${name}</span>` : name
      }</th>`
    }
    const way = order.column !== column ? null : order.isDown ? 'descending' : 'ascending'
    const isDown = way === null ? kind.startsWith('num') : !order.isDown
    return html`<th scope="col" class=${shared} key=${name} aria-sort=${way}>
      <button type="button" class="sort" onClick=${() => choose({ column, isDown })}>${name}${
        way === null ? null : html`<span aria-hidden="true">${order.isDown ? '↓' : '↑'}</span>`
      }</button></th>`
  })}</tr></thead>`
}
