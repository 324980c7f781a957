import { useEffect, useState } from 'preact/hooks'
import { post } from '../api/client'
import type { InferDoc } from '../api/serving'
import { useLoaded } from '../api/use'
import { Figure, Legend } from '../chart/figure'
import { Lines, type Series } from '../chart/lines'
import { useLang } from '../i18n'
import { fieldOf } from '../i18n/refusal'
import { Card } from '../ui/card'
import { Field } from '../ui/field'
import { asNumber } from '../ui/numbers'
import { Failed } from '../ui/states'
import type { Measured } from '../state'
import { Invalid } from './invalid'
import { loadsOf, type Load, type Run } from './runs'

/** Predict asks what the measured service should have done, and lays the answer beside the measurement. */
export function Predict({ run, s, set }: { run: Run; s: Measured; set: (c: Partial<Measured>) => void }) {
  const { t, f } = useLang()
  const loads = loadsOf(run.document)
  const one = loads[0]
  const labels = (run.document.labels ?? {}) as Record<string, string>
  const own = { model: labels.model ?? String(run.document.model ?? ''), cluster: labels.cluster ?? 'h200x8', plan: labels.plan ?? 'tp=8', isl: String(one?.isl || 1024), osl: String(one?.osl || 1024) }
  // What is asked stands in the address; until then the form is of the run.
  const asked = s.cluster ? { model: s.model, cluster: s.cluster, plan: s.plan, isl: s.isl, osl: s.osl } : undefined
  const [q, setQ] = useState(asked ?? own)
  useEffect(() => asked && setQ(asked), [s])
  const levels = [...new Set(loads.map((l) => l.concurrency))].sort((a, b) => a - b).join(',')
  const { value: doc, error } = useLoaded(asked && loads.length ? JSON.stringify([asked, levels]) : '', (signal) =>
    post<InferDoc>('infer', { ...asked, isl: asNumber(asked!.isl), osl: asNumber(asked!.osl), concurrency: levels }, signal),
  )
  if (!loads.length) return null
  const on = (k: keyof typeof q) => ({ value: q[k], onInput: (v: string) => setQ({ ...q, [k]: v }), bad: error !== undefined && fieldOf(error) === k })
  return (
    <Card title={t.measured.gapTitle} id="predict">
      <form
        class="inline"
        onSubmit={(e) => {
          e.preventDefault()
          set(q)
        }}
      >
        <Field label={t.ask.model} {...on('model')} />
        <Field label={t.ask.cluster} {...on('cluster')} />
        <Field label={t.serving.plan} {...on('plan')} />
        <Field label={t.serving.isl} {...on('isl')} unit={t.unit.tokens} numeric />
        <Field label={t.serving.osl} {...on('osl')} unit={t.unit.tokens} numeric />
        <button type="submit" class="primary">{t.measured.predict}</button>
      </form>
      {error && <Failed error={error} />}
      {doc && !error && <Invalid run={run} name={t.measured.thisRun} />}
      {doc && !error && <Beside loads={loads} doc={doc} say={(n, x) => t.measured.worst(n, f.percent(x))} />}
    </Card>
  )
}

const figures = ['tpot', 'ttft', 'output'] as const

function Beside({ loads, doc, say }: { loads: Load[]; doc: InferDoc; say: (name: string, gap: number) => string }) {
  const { t, f } = useLang()
  const of = { tpot: 'tpot_seconds', ttft: 'ttft_seconds', output: 'output_tokens_per_second' } as const
  const names = { tpot: 'TPOT', ttft: 'TTFT', output: t.serving.throughput }
  const text = (k: (typeof figures)[number]) => (k === 'output' ? f.num : f.seconds)
  const rows = figures.flatMap((k) =>
    loads.flatMap((l) => {
      const predicted = doc.points?.find((x) => x.concurrency === l.concurrency)?.[of[k]] ?? null
      const measured = l[k]
      return measured === null && predicted === null ? [] : [{ k, concurrency: l.concurrency, measured, predicted, gap: measured && predicted ? predicted / measured - 1 : null }]
    }),
  )
  const worst = rows.filter((r) => r.gap !== null).sort((a, b) => Math.abs(b.gap!) - Math.abs(a.gap!))[0]
  return (
    <>
      {worst && <p class="sentence">{say(`${names[worst.k]}, ${t.serving.load(f.int(worst.concurrency))}`, worst.gap!)}</p>}
      <Legend keys={[{ name: t.measured.measured, tone: 'tone1' }, { name: t.measured.predicted, tone: 'tone2' }]} />
      <div class="pictures three">
        {figures.map((k) => {
          const mine = rows.filter((r) => r.k === k)
          const series: Series[] = (['measured', 'predicted'] as const).map((w, i) => ({
            name: t.measured[w],
            tone: i + 1,
            dotted: w === 'predicted',
            points: mine.map((r) => ({ x: r.concurrency, y: r[w], label: `${t.measured[w]}: ${text(k)(r[w])}\n${t.serving.load(f.int(r.concurrency))}` + (r.gap === null ? '' : `\n${t.measured.gap} ${f.percent(r.gap)}`) })),
          }))
          return (
            <Figure
              key={k}
              name={'beside-' + k}
              title={names[k]}
              data={{ head: [t.serving.inFlight, t.measured.measured, t.measured.predicted, t.measured.gap], rows: mine.map((r) => [r.concurrency, r.measured, r.predicted, r.gap]) }}
              of={[loads, doc]}
              draw={(width) => <Lines width={width} label={names[k]} series={series} xLabel={t.serving.inFlight} yLabel={k === 'output' ? t.unit.tokensPerSecond : names[k]} xText={f.int} yText={text(k)} xScale="doubling" />}
            />
          )
        })}
      </div>
    </>
  )
}
