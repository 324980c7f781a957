import { post } from '../api/client'
import type { InferDoc, Point } from '../api/serving'
import { useLoaded } from '../api/use'
import { Figure, Legend } from '../chart/figure'
import { keysOf, Lines, look, type Series } from '../chart/lines'
import { useLang } from '../i18n'
import type { Serving } from '../state'
import { Card } from '../ui/card'
import { pointed } from '../ui/numbers'
import { Failed, Skeleton } from '../ui/states'
import { PlanText } from '../ui/plan'
import { rttOf, tell } from './pareto'
import { planText, requestOf } from './request'

/** Curves follow the chosen plan over the load, with and without speculation. */
export function Curves({ asked, best }: { asked: Serving; best: Point }) {
  const speech = useLang()
  const { t, f } = speech
  const plan = planText(best.plan)
  const loaded = useLoaded(JSON.stringify([asked, plan, best.cluster]), async (signal) => {
    const body = await requestOf({ ...asked, clusters: best.cluster, plan, rtt: best.net_rtt_seconds === null ? '' : asked.rtt, ttft: '', tpot: '', price: '' })
    return post<InferDoc>('infer', body, signal)
  })
  if (loaded.error) return <Card title={t.serving.curves}><Failed error={loaded.error} /></Card>
  if (!loaded.value) return <Card title={t.serving.curves}><Skeleton tall /></Card>
  const points = (loaded.value.points ?? []).filter((p) => p.fits && p.ttft_seconds !== null)
  const nameOf = (p: Point) => [p.spec, ...(p.net_rtt_seconds === null ? [] : [rttOf(p)])].join(', ')
  const names = [...new Set(points.map(nameOf))]
  const pictures = [
    { name: 'throughput', title: t.serving.throughput, y: t.serving.y, head: t.serving.y, of: (p: Point) => p.output_tokens_per_second_per_gpu!, text: f.num, log: false, limit: undefined },
    { name: 'ttft', title: t.serving.ttftPlot, y: 'TTFT', head: 'TTFT (s)', of: (p: Point) => p.ttft_seconds!, text: f.seconds, log: true, limit: Number(pointed(asked.ttft)) || undefined },
    { name: 'tpot', title: t.serving.tpotPlot, y: 'TPOT', head: 'TPOT (s)', of: (p: Point) => p.tpot_seconds!, text: f.seconds, log: true, limit: Number(pointed(asked.tpot)) / 1e3 || undefined },
  ]
  return (
    <Card title={t.serving.curves} id="curves" aside={<PlanText text={plan} />}>
      <p class="note">{t.serving.curvesNote}</p>
      <Legend keys={keysOf(names.map((name, i) => ({ name, ...look(i) })))} />
      <div class="pictures three">
        {pictures.map((pic) => {
          const series: Series[] = names.map((name, i) => ({
            name,
            ...look(i),
            points: points.filter((p) => nameOf(p) === name).map((p) => ({ x: p.concurrency, y: pic.of(p), label: tell(p, speech) })),
          }))
          return (
            <Figure
              key={pic.name}
              name={pic.name}
              title={pic.title}
              busy={loaded.busy}
              data={{ head: [t.serving.inFlight, ...names.map((name) => `${pic.head}: ${name}`)], rows: [...new Set(points.map((p) => p.concurrency))].map((n) => [n, ...names.map((name) => points.filter((p) => nameOf(p) === name && p.concurrency === n).map(pic.of)[0] ?? null)]) }}
              of={[loaded.value]}
              draw={(width) => (
                <Lines
                  width={width}
                  label={pic.title}
                  series={series}
                  xLabel={t.serving.inFlight}
                  yLabel={pic.y}
                  xText={f.int}
                  yText={pic.text}
                  xScale="doubling"
                  yScale={pic.log ? 'log' : 'linear'}
                  limit={pic.limit ? { y: pic.limit, name: `≤ ${f.seconds(pic.limit)}` } : undefined}
                />
              )}
            />
          )
        })}
      </div>
    </Card>
  )
}
