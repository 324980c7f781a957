import { get } from '../api/client'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import { Notes } from '../ui/notes'
import { Failed } from '../ui/states'
import { Table } from '../ui/table'
import { isFile, type Run } from './runs'
import { said } from './said'

/** Comparison is the server's, of two runs that it keeps; benches come with 95 % intervals of each change. */
interface Comparison {
  pairs?: {
    load: string
    rows: {
      metric: string
      statistic: string
      unit: string
      a: number | null
      b: number | null
      change: number | null
      change_low: number | null
      change_high: number | null
      differs: boolean | null
      too_few: boolean
    }[]
  }[]
  notes?: string[]
}

/** Intervals says which differences between two kept benches are more than chance. */
export function Intervals({ run, other }: { run: Run; other: Run }) {
  const speech = useLang()
  const { t, f } = speech
  const kept = run.kind === 'bench' && !isFile(run.id) && !isFile(other.id)
  const query = new URLSearchParams({ a: run.id, b: other.id }).toString()
  const loaded = useLoaded(kept ? query : '', (signal) => get<Comparison>('runs/compare?' + query, signal))
  if (!kept) return null
  if (loaded.error) return <Failed error={loaded.error} />
  const rows = (loaded.value?.pairs ?? []).flatMap((p) => p.rows.map((r) => ({ ...r, load: p.load })))
  if (!rows.length) return null
  // The server words a closed load as requests in flight.
  const load = (text: string) => {
    const n = /^(\d+) in flight$/.exec(text)?.[1]
    return n === undefined ? text : t.serving.load(f.int(Number(n)))
  }
  const told = (v: number | null, unit: string) => said({ unit }, v, speech)
  return (
    <>
      <h3>{t.measured.chance}</h3>
      <p class="note">{t.measured.chanceNote}</p>
      <Table
        name="intervals"
        caption={t.measured.chance}
        rows={rows}
        columns={[
          {
            head: t.measured.metric,
            text: true,
            raw: (r) => `${r.load}: ${r.metric} ${r.statistic}`,
            cell: (r) => (
              <>
                {t.measured.names(r.metric)} {t.measured.names(r.statistic)}
                <small class="at">{load(r.load)}</small>
              </>
            ),
          },
          { head: 'A', raw: (r) => r.a, cell: (r) => told(r.a, r.unit) },
          { head: 'B', raw: (r) => r.b, cell: (r) => told(r.b, r.unit) },
          { head: t.measured.change, raw: (r) => r.change, cell: (r) => f.signed(r.change) },
          { head: '95 %', raw: (r) => r.change_low, cell: (r) => (r.change_low === null ? '–' : `${f.signed(r.change_low)} … ${f.signed(r.change_high)}`) },
          { head: t.measured.differs, text: true, raw: (r) => (r.differs === null ? (r.too_few ? 'too few' : null) : String(r.differs)), cell: (r) => (r.differs === null ? (r.too_few ? t.measured.few : '–') : r.differs ? t.measured.yes : t.measured.noise) },
        ]}
      />
      {rows.some((r) => r.too_few) && <p class="note">{t.measured.fewNote}</p>}
      <Notes title={t.measured.doubtsBetween} lines={loaded.value?.notes} />
    </>
  )
}
