import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { csv, download } from '../chart/export'
import { useLang } from '../i18n'

export interface Column<T> {
  head: string
  unit?: string // of raw, for the CSV file's head: a cell states its own
  cell: (row: T, i: number) => ComponentChildren
  raw: (row: T, i: number) => string | number | null // SI, for CSV and sorting
  text?: boolean // left-aligned words
  fold?: boolean // said once above the table where it is the same in all rows; a file keeps it
}

/** Table sorts by a column's head, exports CSV, and lets one row be chosen. */
export function Table<T>(p: { name: string; caption: string; columns: Column<T>[]; rows: T[]; chosen?: number; onPick?: (i: number) => void; pickLabel?: (row: T, i: number) => string }) {
  const { t } = useLang()
  const [by, setBy] = useState<{ col: number; down: boolean }>()
  const order = p.rows.map((_, i) => i)
  const same = p.columns.filter((c) => c.fold && p.rows.length > 1 && new Set(p.rows.map(c.raw)).size === 1)
  const columns = p.columns.filter((c) => !same.includes(c))
  const sorted = by && columns[by.col]
  if (by && sorted) {
    const raw = sorted.raw
    const key = (i: number) => raw(p.rows[i]!, i)
    order.sort((a, b) => {
      const [x, y] = [key(a), key(b)]
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1
      return (x < y ? -1 : x > y ? 1 : a - b) * (by.down ? -1 : 1)
    })
  }
  return (
    <div class="tablebox">
      {same.length > 0 && (
        <p class="note">
          {t.table.same}{' '}
          {same.map((c, i) => (
            <span key={c.head}>
              {i > 0 && '; '}
              {c.head} {c.cell(p.rows[0]!, 0)}
            </span>
          ))}
          .
        </p>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label={t.table.region(p.caption)}>
        <table class={p.onPick ? 'picks' : undefined}>
          <caption class="hidden">{p.caption}</caption>
          <thead>
            <tr>
              {columns.map((c, i) => (
                <th key={c.head} scope="col" class={c.text ? undefined : 'n'} aria-sort={by?.col === i ? (by.down ? 'descending' : 'ascending') : undefined}>
                  <button type="button" class="sort" onClick={() => setBy({ col: i, down: by?.col === i && !by.down })}>
                    {c.head}
                    {by?.col === i && <span aria-hidden="true">{by.down ? ' ▾' : ' ▴'}</span>}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {order.map((i) => {
              const row = p.rows[i]!
              return (
                <tr key={i} class={p.chosen === i ? 'chosen' : undefined} aria-current={p.chosen === i ? 'true' : undefined} onClick={p.onPick && (() => p.onPick!(i))}>
                  {columns.map((c, j) => (
                    <td key={j} class={c.text ? undefined : 'n'}>
                      {j === 0 && p.onPick && p.pickLabel ? (
                        <button type="button" class="pick" aria-label={p.pickLabel(row, i)} aria-pressed={p.chosen === i}>
                          {c.cell(row, i)}
                        </button>
                      ) : (
                        c.cell(row, i)
                      )}
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <button
        type="button"
        class="quiet"
        aria-label={`CSV: ${p.caption}`}
        onClick={() => download(p.name + '.csv', csv(p.columns.map((c) => (c.unit ? `${c.head} (${c.unit})` : c.head)), order.map((i) => p.columns.map((c) => c.raw(p.rows[i]!, i)))), 'text/csv')}
      >
        CSV
      </button>
      <span class="hidden">{t.table.sortHint}</span>
    </div>
  )
}
