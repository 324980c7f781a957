import type { TrainDoc } from '../api/training'
import { useLang } from '../i18n'
import { Card } from '../ui/card'
import { PlanText } from '../ui/plan'
import { Table } from '../ui/table'
import { Told } from '../ui/told'
import type { Priced } from './request'

/** Plans is the ranked table; choosing a row shows its pictures. */
export function Plans({ list, chosen, best, moved, onPick, doc }: { list: Priced[]; moved: boolean; chosen: number; best: string; onPick: (text: string) => void; doc: TrainDoc }) {
  const { t, f } = useLang()
  return (
    <Card title={moved ? t.plans.asSearched : t.plans.title} id="plans">
      <p class="note screen">{moved && t.plans.keep + ' '}{t.plans.note}</p>
      <Table
        name={`plans-${doc.model}-${doc.cluster}`}
        caption={t.plans.title}
        rows={list}
        chosen={chosen}
        onPick={(i) => onPick(list[i]!.text)}
        pickLabel={(p, i) => t.plans.show(i + 1, p.text)}
        columns={[
          { head: '#', raw: (_, i) => i + 1, cell: (_, i) => f.int(i + 1) },
          { head: t.fact.step, unit: 's', raw: (p) => p.result?.step_seconds ?? null, cell: (p) => (p.result ? f.even.seconds(p.result.step_seconds) : <span class="hint"><Told text={p.error ?? ''} /></span>) },
          { head: t.fact.binds, text: true, raw: (p) => p.result?.bound ?? '', cell: (p) => (p.result ? p.result.fits ? t.bound(p.result.bound) : t.plans.tooLarge : '–') },
          { head: t.plans.plan, text: true, raw: (p) => p.text, cell: (p) => <PlanText text={p.result?.text ?? p.text}>{p.text === best && <span class="badge">{t.plans.best}</span>}</PlanText> },
          { head: 'MFU', unit: '%', raw: (p) => (p.result ? p.result.mfu * 100 : null), cell: (p) => f.percent(p.result?.mfu) },
          { head: t.plans.tokens, raw: (p) => p.result?.tokens_per_second_per_gpu ?? null, cell: (p) => f.int(p.result?.tokens_per_second_per_gpu) },
          { head: t.fact.memory, unit: 'GB', raw: (p) => (p.result ? p.result.memory_bytes_per_gpu / 1e9 : null), cell: (p) => <span class={p.result?.fits === false ? 'over' : undefined}>{f.even.bytes(p.result?.memory_bytes_per_gpu)}</span> },
        ]}
      />
    </Card>
  )
}
