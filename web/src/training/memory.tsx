import type { TimelineDoc } from '../api/training'
import { Bars } from '../chart/bars'
import { Figure, Legend } from '../chart/figure'
import { useLang } from '../i18n'
import type { Training } from '../state'
import { Failed, Skeleton } from '../ui/states'
import type { Priced } from './request'
import { useTimeline } from './timeline'

export const memoryParts = ['weights', 'gathered', 'gradients', 'optimizer', 'activations', 'working', 'buffers', 'context']

/** Memory stacks what each pipeline rank holds at its peak against what is usable. */
export function Memory({ s, plan, id }: { s: Training; plan: Priced; id: string }) {
  const { t, f } = useLang()
  const loaded = useTimeline(s, plan, id)
  const p = plan.result!
  if (loaded.error) return <Failed error={loaded.error} />
  if (!loaded.value) return <Skeleton tall />
  const doc: TimelineDoc = loaded.value
  const ranks = doc.stages.map((x) => ({ rank: x.stage, memory: x.memory }))
  const parts = [...memoryParts, ...Object.keys(p.memory).filter((k) => !memoryParts.includes(k))].filter((k) => ranks.some((r) => (r.memory[k] ?? 0) > 0))
  const tone = (k: string) => 'part' + (memoryParts.indexOf(k) < 0 ? 7 : memoryParts.indexOf(k))
  return (
    <Figure
      name="memory"
      title={t.memory.title}
      note={t.memory.note(p.memory_rank, f.bytes(p.memory_bytes_per_gpu), f.bytes(p.memory_limit_bytes))}
      busy={loaded.busy}
      legend={<Legend keys={parts.map((k) => ({ name: t.part(k), tone: tone(k) }))} />}
      data={{ head: [t.memory.rank, ...parts.map((k) => `${t.part(k)} (B)`)], rows: ranks.map((r) => [r.rank, ...parts.map((k) => r.memory[k] ?? 0)]) }}
      of={[doc, p]}
      draw={(width) => (
        <Bars
          width={width}
          label={t.memory.title}
          axis={t.memory.axis}
          text={(v) => f.bytes(v)}
          limit={{ value: p.memory_limit_bytes, name: t.memory.limit(f.bytes(p.memory_limit_bytes)) }}
          bars={ranks.map((r) => ({
            name: t.memory.stage(r.rank),
            strong: r.rank === p.memory_rank,
            parts: parts.map((k) => ({ value: r.memory[k] ?? 0, tone: tone(k), label: `${t.memory.stage(r.rank)}: ${t.part(k)}\n${f.bytes(r.memory[k] ?? 0)}` })),
          }))}
        />
      )}
    />
  )
}
