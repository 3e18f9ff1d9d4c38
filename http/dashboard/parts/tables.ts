import { Component } from 'preact'
import { html, type Shown } from '../html.ts'
import { CsvButton, type CsvRows } from './csv-button.ts'

export interface Order<Key extends string> {
  readonly column: Key
  readonly isDown: boolean
}

/**
 * Class `num`: a number. `spare`: hidden on tablets. `subject`: names the row. On phones, each cell shows the heading
 * or `label` (null: nothing). Cells of class `question`, `wide` or `actions` show neither. Only screen readers announce
 * the heading of `actions`.
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
  readonly marks?: (row: Row) => Readonly<Record<string, unknown>>
  /** Renders an element below the row. */
  readonly below?: (row: Row) => Shown
  /** A row rerenders only if its object or one of these values changes. */
  readonly inputs?: readonly unknown[]
}

interface TableProps<Row> extends RowSet<Row> {
  /** CSS classes in addition to `list`. */
  readonly kind?: string
  readonly caption?: Shown
  readonly head?: Shown
  readonly body?: Readonly<Record<string, unknown>>
  /** Accessible name of the table's scroll region, which the keyboard can focus and scroll. */
  readonly region?: string
  /** Name of the exported list. */
  readonly list: string
  /** Rows of the export. Default: the shown rows. */
  readonly exported?: () => CsvRows
}

export function table<Row extends object>({
  kind = '',
  caption,
  head,
  body,
  region,
  list,
  exported,
  ...set
}: TableProps<Row>) {
  const isRegion = region !== undefined
  return html`<div class="scroll-x" tabindex=${isRegion ? 0 : null} role=${isRegion ? 'region' : null} aria-label=${region}>
    <table class=${`list ${kind}`}>
      ${typeof caption === 'string' ? html`<caption class="visually-hidden">${caption}</caption>` : caption}
      ${head ?? headings(set.columns)}
      <tbody ...${body}>${tableRows(set)}</tbody>
    </table>
  </div>
  <${CsvButton} name=${list} rows=${exported ?? (() => set.rows)} />`
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
 * With `choose`, headings are sort buttons. The first click sorts numbers descending and texts ascending. Further
 * clicks reverse the order.
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
