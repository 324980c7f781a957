import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useLang } from '../i18n'
import { csv, download, pngBlob, svgText, type Heading } from './export'

export interface Data {
  head: string[]
  rows: (string | number | null | undefined)[][]
}

/** Subject says in a line what the pictures below it are of: it goes with those that leave the page. */
export const Subject = createContext('')

interface Props {
  name: string // of exported files
  title: string
  note?: ComponentChildren
  data: Data // the picture's numbers: shown as a table on demand, exported as CSV
  legend?: ComponentChildren
  busy?: boolean
  draw: (width: number) => ComponentChildren // an svg with a viewBox
  of: unknown[] // what the drawing depends on: it is made again when one of these changes
}

/** least width of a picture, px: below it nothing can be read, and margins would eat it. */
const least = 160

/** Figure frames a picture: title, legend, exports, and its numbers as a table. */
export function Figure({ name, title, note, data, legend, busy, draw, of }: Props) {
  const { t } = useLang()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [failed, setFailed] = useState('')
  const [open, setOpen] = useState(false)
  const drawing = useMemo(() => (width >= least ? draw(width) : null), [width, t, ...of])
  const svg = () => box.current!.querySelector('svg')!
  const subject = useContext(Subject)
  const heading = (): Heading => ({
    title,
    subject,
    keys: [...box.current!.closest('figure')!.querySelectorAll('.legend li')].map((li) => ({ name: li.textContent ?? '', fill: getComputedStyle(li.querySelector('rect')!).fill })),
  })
  const png = () =>
    pngBlob(svg(), heading()).then(
      (b) => download(name + '.png', b),
      (e: unknown) => setFailed(String(e)),
    )
  return (
    <figure class="figure" id={'figure-' + name} aria-busy={busy ? 'true' : undefined}>
      <figcaption>
        <h3>{title}</h3>
        <div class="exports">
          <button type="button" class="quiet" onClick={() => download(name + '.svg', svgText(svg(), heading()), 'image/svg+xml')} aria-label={`SVG: ${title}`}>
            SVG
          </button>
          <button type="button" class="quiet" onClick={png} aria-label={`PNG: ${title}`}>
            PNG
          </button>
          <button type="button" class="quiet" onClick={() => download(name + '.csv', csv(data.head, data.rows), 'text/csv')} aria-label={`CSV: ${title}`}>
            CSV
          </button>
        </div>
      </figcaption>
      {note && <p class="note">{note}</p>}
      {legend}
      <div class="drawing" ref={box}>
        {drawing}
      </div>
      {failed && <p role="alert">{failed}</p>}
      <details class="numbers" onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>{t.figure.numbers}</summary>
        {open && <Numbers data={data} title={title} />}
      </details>
    </figure>
  )
}

// Rows of a table of numbers that are shown; the CSV file holds all.
const mostRows = 500

function Numbers({ data, title }: { data: Data; title: string }) {
  const { f } = useLang()
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>{data.head.map((h) => <th scope="col" key={h}>{h}</th>)}</tr>
        </thead>
        <tbody>
          {data.rows.slice(0, mostRows).map((r, i) => (
            <tr key={i}>{r.map((c, j) => <td key={j} class={typeof c === 'number' ? 'n' : undefined}>{typeof c === 'number' ? f.num(c) : c}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useWidth(ref: { current: HTMLElement | null }): number {
  const [width, set] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([e]) => set(Math.floor(e!.contentRect.width)))
    watch.observe(ref.current!)
    return () => watch.disconnect()
  }, [])
  return width
}

export interface Key {
  name: string
  tone: string // class that colours the swatch
}

export function Legend({ keys }: { keys: Key[] }) {
  return (
    <ul class="legend">
      {keys.map((k) => (
        <li key={k.name}>
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" rx="2" class={k.tone} />
          </svg>
          {k.name}
        </li>
      ))}
    </ul>
  )
}
