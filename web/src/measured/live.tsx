import { useEffect, useState } from 'preact/hooks'
import { stream } from '../api/client'
import { Figure } from '../chart/figure'
import { Lines } from '../chart/lines'
import { useLang } from '../i18n'
import { Card, Facts } from '../ui/parts'

/** Sample is the state of a running bench, as the server tells it. */
interface Sample {
  stage: number
  stages: number
  concurrency?: number
  rate?: number
  elapsed_seconds: number
  sent: number
  ok: number
  failed: number
  in_flight: number
  output_tokens_per_second: number
}

/** Live follows a bench that runs now; where none runs it shows nothing. */
export function Live() {
  const { t, f } = useLang()
  const [seen, setSeen] = useState<Sample[]>([])
  useEffect(() => {
    const abort = new AbortController()
    stream('GET', 'runs/live', undefined, abort.signal, (name, data) => {
      if (name === 'progress') setSeen((s) => [...s.slice(-600), data as Sample])
      else if (name === 'end') setSeen([])
    }).catch(() => setSeen([])) // no bench runs, or the server keeps no runs: there is nothing to follow
    return () => abort.abort()
  }, [])
  const now = seen.at(-1)
  if (!now) return null
  const points = seen.map((s, i) => ({ x: i / 4, y: s.output_tokens_per_second, label: `${f.seconds(i / 4)}\n${f.num(s.output_tokens_per_second)} ${t.unit.tokensPerSecond}` }))
  return (
    <Card title={t.measured.live} id="live">
      <p class="note">{t.measured.liveNote}</p>
      <Facts
        facts={[
          { name: t.measured.stage, value: `${now.stage + 1}${now.stages ? ' / ' + now.stages : ''}`, note: now.rate ? `${f.num(now.rate)}/s` : now.concurrency ? `${f.int(now.concurrency)} ${t.serving.inFlight}` : undefined },
          { name: t.unit.requests, value: f.int(now.ok), note: t.measured.sentFailed(f.int(now.sent), f.int(now.failed)) },
          { name: t.serving.inFlight, value: f.int(now.in_flight) },
          { name: t.fact.throughput, value: f.num(now.output_tokens_per_second), unit: t.unit.tokensPerSecond },
          { name: t.measured.elapsed, value: f.seconds(now.elapsed_seconds) },
        ]}
      />
      <Figure
        name="live"
        title={t.fact.throughput}
        data={{ head: ['s', t.unit.tokensPerSecond], rows: points.map((p) => [p.x, p.y]) }}
        draw={(width) => <Lines width={width} height={200} label={t.fact.throughput} series={[{ name: t.fact.throughput, tone: 1, points }]} xLabel="s" yLabel={t.unit.tokensPerSecond} xText={f.num} yText={f.num} />}
      />
    </Card>
  )
}
