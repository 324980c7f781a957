import { useLang, type Dict } from '../i18n'
import { Card } from '../ui/card'
import { Notes } from '../ui/notes'
import { Table, type Column } from '../ui/table'
import { Against } from './against'
import { Intervals } from './intervals'
import { Invalid } from './invalid'
import { leveled, said } from './said'
import { beside, doubtsOf, figuresOf, leastOf, type Beside, type Run } from './runs'

/** namedIn is a run's title with its time: two runs of one service are told apart by it. */
const namedIn = (t: Dict) => (r: Run): string => `${r.name || t.measured.summary(r.title)} ${r.started.replace('T', ' ').slice(5, 19)}`

/** metric is a figure's name, and below it the load that it is of. */
function metric(parts: string[]) {
  const of = parts.slice(0, -1).join(': ')
  return of ? <>{parts.at(-1)}<small class="at">{of}</small></> : parts[0]
}

/** heads of the figures of what is no measurement. */
const heads: Partial<Record<Run['kind'], 'predicted' | 'value'>> = { prediction: 'predicted', simulation: 'predicted', validation: 'value' }

/** Compare lists a run's figures, beside those of another. */
export function Compare({ run, other }: { run: Run; other: Run | undefined }) {
  const speech = useLang()
  const { t, f } = speech
  const level = leveled(speech)
  const named = namedIn(t)
  const name = (x: Beside) => x.name.split(': ').map(t.measured.names).join(': ')
  const alike = other?.kind === run.kind ? other : undefined
  const rows = beside(figuresOf(run, level), alike ? figuresOf(alike, level) : [])
  const marked = (text: string, few?: boolean) => (few && text !== '–' ? <span class="few">{text}<abbr title={t.measured.fewMark}>*</abbr></span> : text)
  const change = (x: Beside) => (x.a === null || x.b === null || x.a === 0 ? null : x.b / x.a - 1)
  const columns: Column<Beside>[] = [
    { head: t.measured.metric, text: true, raw: name, cell: (x) => metric(x.name.split(': ').map(t.measured.names)) },
    { head: alike ? 'A' : heads[run.kind] ? t.measured[heads[run.kind]!] : t.measured.measured, unit: alike && named(run), raw: (x) => x.a, cell: (x) => marked(said(x, x.a, speech), x.fewA) },
  ]
  if (alike)
    columns.push(
      { head: 'B', unit: named(alike), raw: (x) => x.b, cell: (x) => marked(said(x, x.b, speech), x.fewB) },
      {
        head: t.measured.change,
        raw: change,
        cell: (x) => {
          const c = change(x)
          if (x.fewA || x.fewB) return marked(f.signed(c), true) // of single requests: neither better nor worse
          const worse = c !== null && ((x.better === 'less' && c > 0.02) || (x.better === 'more' && c < -0.02))
          return <span class={worse ? 'over' : undefined}>{f.signed(c)}</span>
        },
      },
    )
  return (
    <Card title={t.measured.figures} id="figures">
      {alike && (
        <p class="note">
          A: {named(run)}
          <br />
          B: {named(alike)}
        </p>
      )}
      <Invalid run={run} name={alike ? 'A' : t.measured.thisRun} />
      {alike && <Invalid run={alike} name="B" />}
      <Table name={'figures-' + run.kind} caption={t.measured.figures} rows={rows} columns={columns} />
      {rows.some((x) => x.fewA || x.fewB) && <p class="note">{t.measured.p99Note(f.int(leastOf.p99!))}</p>}
      {other && other.kind === run.kind && <Intervals run={run} other={other} />}
      {other && other.kind !== run.kind && <Against run={run} other={other} />}
      <Notes title={alike ? t.measured.doubtsOf('A') : t.warnings} {...doubtsOf(run.document, level, t.measured.notValid)} />
      {alike && <Notes title={t.measured.doubtsOf('B')} {...doubtsOf(alike.document, level, t.measured.notValid)} />}
    </Card>
  )
}
