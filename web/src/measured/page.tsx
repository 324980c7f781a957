import { useState } from 'preact/hooks'
import { get, Problem } from '../api/client'
import type { RunHead } from '../api/catalogue'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import { ReportButton } from '../share/report'
import { measuredDefaults, type Measured } from '../state'
import { Drop } from '../ui/drop'
import { Card } from '../ui/card'
import { Select } from '../ui/field'
import { Spelled } from '../ui/spelled'
import { Empty, Failed, Skeleton } from '../ui/states'
import { Table } from '../ui/table'
import { Absent } from './absent'
import { Compare } from './compare'
import { Gap } from './gap'
import { Live } from './live'
import { Measure } from './measure'
import { Predict } from './predict'
import { isFile, runOf, type Json, type Run } from './runs'

/** The page of measurements: runs that the server keeps, and documents that were dropped here. */
export default function MeasuredPage({ s, set }: { s: Measured; set: (c: Partial<Measured>) => void }) {
  const { t } = useLang()
  const [dropped, setDropped] = useState<Run[]>([])
  const [fresh, setFresh] = useState(0)
  const [own, setOwn] = useState(false) // a bench of this page runs, which shows itself
  const heads = useLoaded('runs' + fresh, (signal) => get<{ runs: RunHead[] | null; services?: string[] | null }>('runs', signal))
  const kept = heads.value?.runs ?? []
  const all: { id: string; kind: string; title: string; target?: string; started: string }[] = [
    ...dropped,
    ...kept.map((r) => ({ id: r.id, kind: r.kind, title: r.name || t.measured.summary(r.title ?? r.model ?? r.id), target: r.target, started: r.started ?? '' })),
  ]
  const run = useRun(s.run, dropped)
  const other = useRun(s.other, dropped)
  // A prediction is of one run, and does not stay for another.
  const choose = (id: string) => set({ ...measuredDefaults, run: id, other: s.other === id ? '' : s.other })
  const absent = [s.run, s.other].filter((id) => isFile(id) && !dropped.some((r) => r.id === id))
  const chosen = all.findIndex((r) => r.id === s.run)
  return (
    <div class="page one">
      <div class="main">
        {!own && <Live onEnd={() => setFresh((n) => n + 1)} />}
        <Card title={t.measured.title} id="runs">
          <Drop
            button={t.measured.open}
            label={t.measured.open}
            hint={t.measured.dropHint}
            notJson={t.measured.notJson}
            take={(name, json) => {
              const r = json && typeof json === 'object' ? runOf(name, json as Json) : undefined
              if (!r) throw new Problem(t.measured.unknown(name), 400)
              setDropped((x) => [r, ...x.filter((y) => y.id !== r.id)])
              if (!absent.includes(r.id)) choose(r.id)
            }}
          />
          <Absent ids={absent} onForget={() => set({ ...(absent.includes(s.run) ? measuredDefaults : {}), ...(absent.includes(s.other) ? { other: '' } : {}) })} />
          {heads.error && <Failed error={heads.error} />}
          {s.run && run.error && <Failed error={run.error} />}
          {s.other && other.error && <Failed error={other.error} />}
          {heads.busy && !heads.value && !heads.error && <Skeleton />}
          {!all.length && !heads.busy && !absent.length && (
            <Empty>
              <p><Spelled text={t.measured.empty} /></p>
              <p><code>ridgeline bench --url http://localhost:8000/v1 --model NAME --concurrency 1..64 --db FILE</code></p>
              <p><code>ridgeline runs import DOCUMENT.json --db FILE</code></p>
              <p><code>ridgeline validate training --runs runs.csv --keep published --db FILE</code></p>
            </Empty>
          )}
          {all.length > 0 && (
            <Table
              name="runs"
              caption={t.measured.title}
              rows={all}
              chosen={chosen}
              onPick={(i) => choose(all[i]!.id)}
              pickLabel={(r) => `${r.title} (${r.kind})`}
              columns={[
                { head: t.measured.subject, text: true, raw: (r) => r.title, cell: (r) => (r.target ? <>{r.title}<small class="at">{r.target}</small></> : r.title) },
                { head: t.measured.kind, text: true, raw: (r) => r.kind, cell: (r) => t.measured.kinds(r.kind) },
                { head: t.measured.date, text: true, raw: (r) => r.started, cell: (r) => r.started.replace('T', ' ').slice(0, 16) || '–' },
              ]}
            />
          )}
          {all.length > 1 && chosen >= 0 && (
            <Select
              label={t.measured.compare}
              value={s.other}
              id="other"
              options={[['', t.measured.noOther], ...all.filter((r) => r.id !== s.run && comparable(all[chosen]!.kind, r.kind)).map((r): [string, string] => [r.id, `${r.title} ${r.started.replace('T', ' ').slice(0, 19)}`])]}
              onChange={(v) => set({ other: v })}
            />
          )}
        </Card>
        {heads.value?.services?.length ? (
          <Measure
            services={heads.value.services}
            onBusy={setOwn}
            onRun={(id, own) => {
              if (own) setDropped((x) => [own, ...x])
              setFresh((n) => n + 1)
              choose(id)
            }}
          />
        ) : null}
        {!s.run && all.length > 0 && <Empty>{t.measured.choose}</Empty>}
        {run.value && (
          <>
            {run.value.kind === 'validation' && <Gap run={run.value} />}
            {run.value.kind === 'bench' && <Predict key={run.value.id} run={run.value} s={s} set={set} />}
            <Compare run={run.value} other={other.value && comparable(run.value.kind, other.value.kind) ? other.value : undefined} />
            <ReportButton name={'ridgeline-' + run.value.kind} />
          </>
        )}
      </div>
    </div>
  )
}

/** comparable are runs of one kind, and a measurement with what was predicted for it. */
const comparable = (a: string, b: string): boolean => a === b || (ahead.includes(a) && b === 'bench') || (a === 'bench' && ahead.includes(b))
const ahead = ['prediction', 'simulation']

/** useRun is a run by its id: one that was dropped here, or one that the server keeps. */
function useRun(id: string, dropped: Run[]) {
  const own = dropped.find((r) => r.id === id)
  const key = own ? id + dropped.length : isFile(id) ? '' : id
  return useLoaded(key, (signal) => (own ? Promise.resolve(own) : get<Run>('runs/' + encodeURIComponent(id), signal)))
}
