import type { InferDoc, Point } from '../api/serving'
import { useLang } from '../i18n'
import { Card } from '../ui/card'
import { PlanText } from '../ui/plan'
import { Table, type Column } from '../ui/table'
import { planText } from './request'

/** Points is the best deployment at each load. */
export function Points({ doc, name }: { doc: InferDoc; name: string }) {
  const { t, f } = useLang()
  const cost: Column<Point> = { head: t.serving.perMillionHead, unit: 'USD', raw: (p) => p.cost_per_million_output_tokens_usd, cell: (p) => f.even.usd(p.cost_per_million_output_tokens_usd) }
  const rtt: Column<Point> = { head: t.serving.rtt, unit: 's', fold: true, raw: (p) => p.net_rtt_seconds, cell: (p) => f.seconds(p.net_rtt_seconds) }
  return (
    <Card title={t.serving.points} id="points">
      <Table
        name={'serving-' + name}
        caption={t.serving.points}
        rows={doc.points ?? []}
        columns={[
          { head: t.serving.inFlight, raw: (p) => p.concurrency, cell: (p) => f.int(p.concurrency) },
          { head: t.serving.plan, text: true, raw: (p) => planText(p.plan), cell: (p) => <PlanText text={planText(p.plan)} /> },
          { head: t.ask.cluster, text: true, fold: true, raw: (p) => p.cluster, cell: (p) => p.cluster },
          { head: t.serving.spec, text: true, fold: true, raw: (p) => p.spec, cell: (p) => p.spec },
          ...(doc.points?.some((p) => p.net_rtt_seconds !== null) ? [rtt] : []),
          { head: 'TTFT', unit: 's', raw: (p) => p.ttft_seconds, cell: (p) => f.even.seconds(p.ttft_seconds) },
          { head: 'TPOT', unit: 's', raw: (p) => p.tpot_seconds, cell: (p) => f.even.seconds(p.tpot_seconds) },
          { head: t.serving.y, raw: (p) => p.output_tokens_per_second_per_gpu, cell: (p) => f.even.num(p.output_tokens_per_second_per_gpu) },
          ...(doc.points?.some((p) => p.cost_per_million_output_tokens_usd !== null) ? [cost] : []),
          { head: t.serving.gpus, fold: true, raw: (p) => p.gpus, cell: (p) => f.int(p.gpus) },
          { head: t.serving.meets, text: true, fold: true, raw: (p) => (p.meets_slo ? t.serving.kept : t.serving.notKept), cell: (p) => (p.meets_slo ? t.serving.kept : <span class="over">{t.serving.notKept}</span>) },
          { head: t.fact.binds, text: true, fold: true, raw: (p) => (p.fits ? t.bound(p.bound) : t.serving.noFit), cell: (p) => (p.fits ? t.bound(p.bound) : t.serving.noFit) },
        ]}
      />
    </Card>
  )
}

type Changed = NonNullable<InferDoc['strategies']>[number]

/** Strategies is the chosen deployment with one thing changed at a time. */
export function Strategies({ doc, name }: { doc: InferDoc; name: string }) {
  const { t, f } = useLang()
  const b = doc.best
  if (!doc.strategies?.length || b.ttft_seconds === null || b.tpot_seconds === null || b.output_tokens_per_second_per_gpu === null) return null
  const output = (p: { output_tokens_per_second_per_gpu: number | null }) => (p.output_tokens_per_second_per_gpu === null ? null : p.output_tokens_per_second_per_gpu / b.output_tokens_per_second_per_gpu! - 1)
  const rows: Changed[] = [{ change: t.serving.asChosen, ttft_seconds: b.ttft_seconds, tpot_seconds: b.tpot_seconds, output_tokens_per_second_per_gpu: b.output_tokens_per_second_per_gpu }, ...doc.strategies]
  return (
    <Card title={t.serving.strategies} id="strategies">
      <p class="note">{t.serving.strategiesNote}</p>
      <Table
        name={'strategies-' + name}
        caption={t.serving.strategies}
        rows={rows}
        columns={[
          { head: t.serving.change, text: true, raw: (p) => t.strategy(p.change), cell: (p) => t.strategy(p.change) },
          { head: 'TTFT', unit: 's', raw: (p) => p.ttft_seconds, cell: (p) => (p.ttft_seconds === null ? t.serving.noFit : f.even.seconds(p.ttft_seconds)) },
          { head: 'TPOT', unit: 's', raw: (p) => p.tpot_seconds, cell: (p) => f.even.seconds(p.tpot_seconds) },
          { head: t.serving.y, raw: (p) => p.output_tokens_per_second_per_gpu, cell: (p) => f.even.num(p.output_tokens_per_second_per_gpu) },
          { head: t.serving.outputChange, unit: '%', raw: (p, i) => (i === 0 || output(p) === null ? null : output(p)! * 100), cell: (p, i) => (i === 0 || output(p) === null ? '–' : f.signed(output(p))) },
        ]}
      />
    </Card>
  )
}
