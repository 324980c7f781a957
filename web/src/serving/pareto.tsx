import { post, type Problem } from '../api/client'
import type { InferDoc, Point } from '../api/serving'
import { useLoaded } from '../api/use'
import { Figure, Legend } from '../chart/figure'
import { keysOf, Lines, look, type Series } from '../chart/lines'
import { useLang, type Speech } from '../i18n'
import type { Serving } from '../state'
import type { Found } from '../ui/search'
import { planText, requestOf } from './request'

/** tell is the tip of a deployment: its name, then its figures. */
export function tell(p: Point, { t, f }: Speech): string {
  return [
    `${p.cluster}: ${planText(p.plan)}`,
    `${p.spec === 'none' ? '' : p.spec + ', '}${p.net_rtt_seconds === null ? '' : rttOf(p) + ', '}${t.serving.load(f.int(p.concurrency))}, ${f.int(p.gpus)} GPU`,
    `${f.num(p.tokens_per_second_per_user)} ${t.serving.x}`,
    `${f.num(p.output_tokens_per_second_per_gpu)} ${t.serving.y}`,
    `TTFT ${f.seconds(p.ttft_seconds)}, TPOT ${f.seconds(p.tpot_seconds)}`,
    ...(p.cost_per_million_output_tokens_usd == null ? [] : [`${f.usd(p.cost_per_million_output_tokens_usd)} ${t.serving.perMillion}`]),
  ].join('\n')
}

const same = (a: Point, b: Point) => a.cluster === b.cluster && a.spec === b.spec && a.net_rtt_seconds === b.net_rtt_seconds && a.concurrency === b.concurrency && planText(a.plan) === planText(b.plan)

interface Variant {
  name: string
  points: Point[]
}

/** variants of a document, each with the front of its own, fastest for a user first. One that nothing fits has none. */
export function variants(doc: InferDoc): Variant[] {
  return doc.fronts
    .map((front) => (front ?? []).filter((p) => p.tokens_per_second_per_user && p.output_tokens_per_second_per_gpu))
    .filter((points) => points.length)
    .map((points) => ({ name: variantOf(points[0]!), points }))
}

/** plansOver are the plans that are laid over a question's own. */
export const plansOver = (text: string): string[] => text.split('|').map((x) => x.trim()).filter((x) => x)

/** useFronts is the fronts of an answer, and of each plan that is laid over it. */
export function useFronts({ doc, asked }: Found<Serving, InferDoc>): { list: Variant[]; busy: boolean; error: Problem | undefined } {
  const plans = plansOver(asked.over)
  const over = useLoaded(plans.length ? JSON.stringify(asked) : '', async (signal) => {
    const list: Variant[] = []
    for (const plan of plans) for (const v of variants(await post<InferDoc>('infer', await requestOf({ ...asked, plan }), signal))) list.push({ ...v, name: `${plan}: ${v.name}` })
    return list
  })
  return { list: [...variants(doc), ...(over.value ?? [])], busy: over.busy, error: over.error }
}

function variantOf(p: Point): string {
  return [p.cluster, ...(p.spec === 'none' ? [] : [p.spec]), ...(p.net_rtt_seconds === null ? [] : [rttOf(p)])].join(', ')
}

/** rttOf names a point's round trip between nodes, where the question gives it. */
export const rttOf = (p: Point): string => `rtt ${rttText(p.net_rtt_seconds!).replace('ms', ' ms').replace('us', ' µs')}`

/** rttText is a round trip as --net-rtt takes it. */
export const rttText = (seconds: number): string => (seconds < 1e-3 ? `${Number((seconds * 1e6).toPrecision(9))}us` : `${Number((seconds * 1e3).toPrecision(9))}ms`)

/** A curve per variant: a figure of its points against the speed for a user. */
function curves(doc: InferDoc, list: Variant[], speech: Parameters<typeof tell>[1], figure: 'output_tokens_per_second_per_gpu' | 'cost_per_million_output_tokens_usd'): Series[] {
  return list.map((v, i) => ({
    name: v.name,
    ...look(i),
    points: v.points.map((p) => ({ x: p.tokens_per_second_per_user!, y: p[figure]!, label: tell(p, speech), strong: same(p, doc.best), faint: !p.meets_slo })),
  }))
}

interface Props {
  doc: InferDoc
  fronts: Variant[]
  busy: boolean
}

export function Pareto({ doc, fronts, busy }: Props) {
  const speech = useLang()
  const { t, f } = speech
  const list = fronts
  const series = curves(doc, list, speech, 'output_tokens_per_second_per_gpu')
  return (
    <Figure
      name="pareto"
      title={t.serving.pareto}
      note={t.serving.paretoNote}
      legend={<Legend keys={keysOf(series)} />}
      data={{
        head: [t.serving.variant, t.serving.plan, t.serving.inFlight, t.serving.gpus, t.serving.x, t.serving.y, 'TTFT (s)', 'TPOT (s)', t.serving.costAxis],
        rows: list.flatMap((v) => v.points.map((p) => [v.name, planText(p.plan), p.concurrency, p.gpus, p.tokens_per_second_per_user, p.output_tokens_per_second_per_gpu, p.ttft_seconds, p.tpot_seconds, p.cost_per_million_output_tokens_usd])),
      }}
      busy={busy}
      of={[doc, fronts.length, busy]}
      draw={(width) => <Lines width={width} height={340} label={t.serving.pareto} series={series} xLabel={t.serving.x} yLabel={t.serving.y} xText={f.num} yText={f.num} xScale="log" yScale="log" />}
    />
  )
}

/** Cost along the fronts: what speed for a user costs. */
export function Cost({ doc, fronts, busy }: Props) {
  const speech = useLang()
  const { t, f } = speech
  const list = fronts.map((v) => ({ ...v, points: v.points.filter((p) => p.cost_per_million_output_tokens_usd != null) }))
  if (!list.some((v) => v.points.length)) return <p class="note">{t.serving.noPrice}</p>
  const series = curves(doc, list, speech, 'cost_per_million_output_tokens_usd')
  return (
    <Figure
      name="cost"
      title={t.serving.costTitle}
      note={t.serving.costNote}
      legend={<Legend keys={keysOf(series)} />}
      data={{ head: [t.serving.variant, t.serving.plan, t.serving.x, t.serving.costAxis], rows: list.flatMap((v) => v.points.map((p) => [v.name, planText(p.plan), p.tokens_per_second_per_user, p.cost_per_million_output_tokens_usd])) }}
      busy={busy}
      of={[doc, fronts.length, busy]}
      draw={(width) => <Lines width={width} height={340} label={t.serving.costTitle} series={series} xLabel={t.serving.x} yLabel={t.serving.costAxis} xText={f.num} yText={f.usd} xScale="log" yScale="log" />}
    />
  )
}
