import { post } from '../api/client'
import type { Point, RatioDoc } from '../api/serving'
import { useLoaded } from '../api/use'
import { frame } from '../chart/axes'
import { Figure, Legend } from '../chart/figure'
import { Marks, type Mark } from '../chart/marks'
import { useLang } from '../i18n'
import type { Serving } from '../state'
import { Card } from '../ui/card'
import { Failed, Skeleton } from '../ui/states'
import { rttText } from './pareto'
import { planText, requestOf } from './request'

/** rolesOf is a plan in two roles, their workers left open: the plan's own, or the same layout for both. */
export function rolesOf(p: Point['plan']): string {
  if (p.prefill !== undefined) return `prefill:${p.prefill};decode:${p.decode}`
  const { replicas: _, redundant: __, ...one } = p
  return `prefill:${planText(one)};decode:${planText(one)}`
}

/** toneOf is the colour of what binds. */
const toneOf = (bound: string): string => 'bound-' + bound.replaceAll(' ', '-')

// px: below it a cell has no room for what binds in words, its stripe and the legend say it.
const wordy = 120

/** Ratio maps output per GPU over the workers of both roles. */
export function Ratio({ asked, best }: { asked: Serving; best: Point }) {
  const { t, f } = useLang()
  const loaded = useLoaded(JSON.stringify([asked, planText(best.plan), best.cluster, best.spec, best.concurrency, best.net_rtt_seconds]), async (signal) => {
    const body = await requestOf({ ...asked, clusters: best.cluster, plan: rolesOf(best.plan), spec: best.spec === 'none' ? '' : best.spec, rtt: best.net_rtt_seconds === null ? '' : rttText(best.net_rtt_seconds), price: '' })
    return post<RatioDoc>('infer/ratio', { ...body, concurrency: String(best.concurrency), spec: best.spec }, signal)
  })
  if (loaded.error)
    return (
      <Card title={t.serving.ratioTitle} id="ratio">
        <p class="note">{t.serving.ratioNone}</p>
        <Failed error={loaded.error} />
      </Card>
    )
  if (!loaded.value) return <Card title={t.serving.ratioTitle} id="ratio"><Skeleton tall /></Card>
  const cells = loaded.value.cells.map((c) => ({ ...c.point, ...c, limited_by: c.point.bound }))
  const rows = [...new Set(cells.map((c) => c.prefill_workers))].sort((a, b) => a - b)
  const cols = [...new Set(cells.map((c) => c.decode_workers))].sort((a, b) => a - b)
  const top = Math.max(...cells.map((c) => c.output_tokens_per_second_per_gpu ?? 0), 1e-9)
  const draw = (width: number) => {
    const h = Math.max(44, 110 / rows.length) // few rows leave room for the axis's name
    const box = frame(width, rows.length * h + 66, { left: 72, top: 8 })
    const w = (box.width - box.left - box.right) / cols.length
    const marks: Mark[] = cells.map((c) => {
      const x = box.left + cols.indexOf(c.decode_workers) * w
      const y = box.top + rows.indexOf(c.prefill_workers) * h
      const share = (c.output_tokens_per_second_per_gpu ?? 0) / top
      return {
        x: x + w / 2,
        y,
        label: [
          `${c.prefill_workers} ${t.serving.prefill}, ${c.decode_workers} ${t.serving.decode}`,
          `${f.num(c.output_tokens_per_second_per_gpu)} ${t.serving.y}`,
          `${f.int(c.gpus)} GPU, TTFT ${f.seconds(c.ttft_seconds)}, TPOT ${f.seconds(c.tpot_seconds)}`,
          ...(c.limited_by ? [t.serving.limits(t.bound(c.limited_by))] : []),
          c.meets_slo ? t.serving.kept : t.serving.notKept,
        ].join('\n'),
        shape: (
          <>
            <rect class={'cell' + (share ? '' : ' none')} x={x + 1} y={y + 1} width={w - 2} height={h - 2} rx="3" fill-opacity={share ? 0.06 + 0.44 * share : 1} />
            <text x={x + w / 2} y={y + h / 2 - 2} text-anchor="middle" class={w < 48 ? 'small' : undefined}>{f.even.num(c.output_tokens_per_second_per_gpu)}</text>
            {w > wordy && <text x={x + w / 2} y={y + h / 2 + 13} text-anchor="middle" class="small">{t.bound(c.limited_by)}</text>}
            {share > 0 && <rect class={toneOf(c.limited_by)} x={x + 4} y={y + h - 7} width={w - 8} height="3" rx="1.5" />}
          </>
        ),
      }
    })
    return (
      <svg viewBox={`0 0 ${box.width} ${box.height}`} role="group" aria-label={t.serving.ratioTitle}>
        <g class="axes" aria-hidden="true">
          {rows.map((v, i) => <text key={v} x={box.left - 8} y={box.top + (i + 0.5) * h} dy="0.34em" text-anchor="end">{f.int(v)}</text>)}
          {cols.map((v, i) => <text key={v} x={box.left + (i + 0.5) * w} y={box.height - 34} text-anchor="middle">{f.int(v)}</text>)}
          <text class="label" x={(box.left + box.width - box.right) / 2} y={box.height - 8} text-anchor="middle">{t.serving.decode}</text>
          <text class="label" transform={`translate(16,${box.top + (rows.length * h) / 2}) rotate(-90)`} text-anchor="middle">{t.serving.prefill}</text>
        </g>
        <Marks marks={marks} box={box} label={t.serving.ratioTitle} />
      </svg>
    )
  }
  return (
    <Card title={t.serving.ratioTitle} id="ratio">
      <Figure
        name="ratio"
        title={t.serving.y}
        note={t.serving.ratioNote + (cells.length < rows.length * cols.length ? ' ' + t.serving.ratioEmpty : '')}
        busy={loaded.busy}
        legend={<Legend keys={[...new Set(cells.filter((c) => c.output_tokens_per_second_per_gpu).map((c) => c.limited_by))].map((b) => ({ name: t.bound(b), tone: toneOf(b) }))} />}
        data={{ head: [t.serving.prefill, t.serving.decode, t.serving.gpus, t.serving.y, 'TTFT (s)', 'TPOT (s)', t.fact.binds], rows: cells.map((c) => [c.prefill_workers, c.decode_workers, c.gpus, c.output_tokens_per_second_per_gpu, c.ttft_seconds, c.tpot_seconds, t.bound(c.limited_by)]) }}
        of={[loaded.value]}
        draw={draw}
      />
    </Card>
  )
}
