import type { InferDoc, Point } from '../api/serving'
import { Bars } from '../chart/bars'
import { Figure, Legend } from '../chart/figure'
import { Lines } from '../chart/lines'
import { useLang } from '../i18n'

/** Kv shows what one GPU holds and how many tokens the cache takes. */
export function Kv({ best }: { best: Point }) {
  const { t, f } = useLang()
  const parts = Object.entries(best.memory).filter(([, v]) => v > 0)
  return (
    <Figure
      name="kv"
      title={best.fits ? t.serving.kvTitle : t.serving.memoryTitle}
      note={!best.fits ? t.verdict.tooLarge(f.bytes(best.memory_bytes_per_gpu), f.bytes(best.memory_limit_bytes)) : t.serving.kvNote(f.count(best.kv_capacity_tokens), f.bytes(best.kv_bytes_per_token), f.int(best.max_concurrency))}
      legend={<Legend keys={parts.map(([k], i) => ({ name: t.part(k), tone: 'part' + (i % 9) }))} />}
      data={{ head: [t.fact.memory, 'B'], rows: parts.map(([k, v]) => [t.part(k), v]) }}
      of={[best]}
      draw={(width) => (
        <Bars
          width={width}
          label={t.serving.kvTitle}
          axis={t.memory.axis}
          text={(v) => f.bytes(v)}
          thick={44}
          limit={{ value: best.memory_limit_bytes, name: t.memory.limit(f.bytes(best.memory_limit_bytes)) }}
          bars={[{ name: 'GPU', parts: parts.map(([k, v], i) => ({ value: v, tone: 'part' + (i % 9), label: `${t.part(k)}\n${f.bytes(v)}` })) }]}
        />
      )}
    />
  )
}

/** Latency shows how TPOT grows with the round trip between nodes. */
export function Latency({ doc }: { doc: InferDoc }) {
  const { t, f } = useLang()
  const list = doc.latency ?? []
  if (list.length < 2)
    return (
      <div class="figure">
        <h3>{t.serving.latencyTitle}</h3>
        <p class="note">{t.serving.latencyNone}</p>
      </div>
    )
  return (
    <Figure
      name="latency"
      title={t.serving.latencyTitle}
      note={t.serving.latencyNote}
      data={{ head: [t.serving.rttAxis + ' (s)', 'TPOT (s)', 'wire'], rows: list.map((p) => [p.net_rtt_seconds, p.tpot_seconds, p.wire_share]) }}
      of={[doc]}
      draw={(width) => (
        <Lines
          width={width}
          label={t.serving.latencyTitle}
          xLabel={t.serving.rttAxis}
          yLabel="TPOT"
          xText={f.secondsUpTo(Math.max(...list.map((p) => p.net_rtt_seconds)))}
          yText={f.seconds}
          limit={doc.slo?.tpot_seconds ? { y: doc.slo.tpot_seconds, name: `≤ ${f.seconds(doc.slo.tpot_seconds)}` } : undefined}
          series={[{ name: 'TPOT', tone: 1, points: list.map((p) => ({ x: p.net_rtt_seconds, y: p.tpot_seconds, label: `${f.seconds(p.net_rtt_seconds)}\nTPOT ${f.seconds(p.tpot_seconds)}\n${t.serving.wire(f.percent(p.wire_share))}` })) }]}
        />
      )}
    />
  )
}
