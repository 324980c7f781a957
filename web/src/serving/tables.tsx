import type { InferDoc } from '../api/types'
import { useLang } from '../i18n'
import { Card } from '../ui/parts'
import { PlanText } from '../ui/plan'
import { Table } from '../ui/table'
import { planText } from './request'

export function Points({ doc, name }: { doc: InferDoc; name: string }) {
  const { t, f } = useLang()
  return (
    <Card title={t.serving.points} id="points">
      <Table
        name={'serving-' + name}
        caption={t.serving.points}
        rows={doc.points ?? []}
        columns={[
          { head: t.serving.inFlight, raw: (p) => p.concurrency, cell: (p) => f.int(p.concurrency) },
          { head: t.ask.cluster, text: true, raw: (p) => p.cluster, cell: (p) => p.cluster },
          { head: t.serving.plan, text: true, raw: (p) => planText(p.plan), cell: (p) => <PlanText text={planText(p.plan)} /> },
          { head: t.serving.spec, text: true, raw: (p) => p.spec, cell: (p) => p.spec },
          { head: t.serving.gpus, raw: (p) => p.gpus, cell: (p) => f.int(p.gpus) },
          { head: 'TTFT (s)', raw: (p) => p.ttft_seconds, cell: (p) => f.seconds(p.ttft_seconds) },
          { head: 'TPOT (s)', raw: (p) => p.tpot_seconds, cell: (p) => f.seconds(p.tpot_seconds) },
          { head: t.serving.y, raw: (p) => p.output_tokens_per_second_per_gpu, cell: (p) => f.num(p.output_tokens_per_second_per_gpu) },
          { head: 'USD/M', raw: (p) => p.cost_per_million_output_tokens_usd, cell: (p) => f.usd(p.cost_per_million_output_tokens_usd) },
          { head: t.fact.binds, text: true, raw: (p) => p.bound, cell: (p) => (p.fits ? t.bound(p.bound) : t.serving.noFit) },
          { head: t.serving.meets, text: true, raw: (p) => String(p.meets_slo), cell: (p) => (p.meets_slo ? t.serving.kept : <span class="over">{t.serving.notKept}</span>) },
        ]}
      />
    </Card>
  )
}

export function Strategies({ doc, name }: { doc: InferDoc; name: string }) {
  const { t, f } = useLang()
  const b = doc.best
  if (!doc.strategies?.length || b.ttft_seconds === null || b.tpot_seconds === null || b.output_tokens_per_second_per_gpu === null) return null
  const rows = [{ change: t.serving.asChosen, ttft_seconds: b.ttft_seconds, tpot_seconds: b.tpot_seconds, output_tokens_per_second_per_gpu: b.output_tokens_per_second_per_gpu }, ...doc.strategies]
  return (
    <Card title={t.serving.strategies} id="strategies">
      <p class="note">{t.serving.strategiesNote}</p>
      <Table
        name={'strategies-' + name}
        caption={t.serving.strategies}
        rows={rows}
        columns={[
          { head: t.serving.change, text: true, raw: (p) => t.strategy(p.change), cell: (p) => t.strategy(p.change) },
          { head: 'TTFT (s)', raw: (p) => p.ttft_seconds, cell: (p) => f.seconds(p.ttft_seconds) },
          { head: 'TPOT (s)', raw: (p) => p.tpot_seconds, cell: (p) => f.seconds(p.tpot_seconds) },
          { head: t.serving.y, raw: (p) => p.output_tokens_per_second_per_gpu, cell: (p) => f.num(p.output_tokens_per_second_per_gpu) },
        ]}
      />
    </Card>
  )
}
