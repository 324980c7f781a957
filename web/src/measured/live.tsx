import { useEffect, useState } from 'preact/hooks'
import { Problem, stream } from '../api/client'
import { Figure } from '../chart/figure'
import { Lines } from '../chart/lines'
import { useLang } from '../i18n'
import { Card, Facts } from '../ui/card'

/** Sample is the state of a running bench, as the server tells it a few times a second. */
export interface Sample {
  stage: number
  stages: number // 0 = not known
  load: string // in the server's words
  concurrency: number // of a closed loop, else 0
  rate: number // requests/s of an open one, else 0
  t: number // s since the stage began
  total: number // requests of the stage, 0 = bounded by time
  sent: number
  ok: number
  failed: number
  in_flight: number
  output_tokens_per_second: number
}

// Samples that are kept and drawn: a few minutes at four a second.
const most = 800

// Seconds of samples that a drawn point is the mean of.
const smooth = 2

/** grown is the samples with one more. */
export const grown = (list: Sample[], x: Sample): Sample[] => [...list.slice(1 - most), x]

/**
 * meansOf is the output over the last seconds at each sample of a stage. A sample's rate holds since the one
 * before, so that rates weigh by their time: after a pause one sample is long, and the next may be of an instant.
 */
export function meansOf(samples: Pick<Sample, 't' | 'output_tokens_per_second'>[]): number[] {
  return samples.map((now, i) => {
    const from = now.t - smooth
    let tokens = 0
    let time = 0
    for (let j = i; j >= 0 && samples[j]!.t > from; j--) {
      const part = samples[j]!.t - Math.max(samples[j - 1]?.t ?? 0, from)
      tokens += samples[j]!.output_tokens_per_second * part
      time += part
    }
    return time > 0 ? tokens / time : now.output_tokens_per_second
  })
}

// When a page that found no bench looks again.
const again = 3000

/** Live follows a bench that runs now, on this server or in a terminal that keeps it in the same file; where none runs it shows nothing. */
export function Live({ onEnd }: { onEnd: () => void }) {
  const { t, lang } = useLang()
  const [seen, setSeen] = useState<Sample[]>([])
  const [about, setAbout] = useState<{ model: string; target: string }>()
  const [since, setSince] = useState('')
  useEffect(() => {
    const abort = new AbortController()
    let timer = 0
    const follow = async () => {
      let any = false
      let refused = false
      await stream('GET', 'runs/live', undefined, abort.signal, (name, data) => {
        if (name === 'bench') setAbout(data as { model: string; target: string })
        else if (name === 'quiet') setSince((data as { since: string }).since)
        else if (name === 'sample') {
          any = true
          setSince('')
          setSeen((s) => grown(s, data as Sample))
        }
      }).catch((e: unknown) => {
        refused = e instanceof Problem // a server without runs has nothing to follow; the list of runs says so
      })
      if (abort.signal.aborted) return
      setSeen([])
      setAbout(undefined)
      setSince('')
      if (any) onEnd()
      if (!refused) timer = window.setTimeout(() => void follow(), again)
    }
    void follow()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [])
  if (!seen.length) return null
  return (
    <Card title={t.measured.live} id="live">
      <p class="note">{about ? t.measured.liveElsewhere(about.model, about.target) : t.measured.liveNote}</p>
      <p class="note" role="status">{since && t.measured.quiet(new Date(since).toLocaleTimeString(lang))}</p>
      <Samples seen={seen} />
    </Card>
  )
}

/** Samples draws a bench as it runs: where it is, and output over time. */
export function Samples({ seen }: { seen: Sample[] }) {
  const { t, f } = useLang()
  const now = seen.at(-1)!
  const load = now.concurrency > 0 ? t.serving.load(f.int(now.concurrency)) : now.rate > 0 ? t.measured.rate(f.num(now.rate)) : now.load
  const here = seen.filter((s) => s.stage === now.stage)
  // A sample counts the answers that ended since the one before: means over a while show the rate.
  const means = meansOf(here)
  const points = here.map((s, i) => ({ x: s.t, y: means[i]!, label: `${f.seconds(s.t)}\n${f.num(means[i])} ${t.unit.tokensPerSecond}\n${t.serving.load(f.int(s.in_flight))}` }))
  return (
    <>
      <Facts
        facts={[
          { name: t.measured.stage, value: `${now.stage + 1}${now.stages ? ' / ' + now.stages : ''}`, note: load },
          { name: t.unit.requests, value: f.int(now.ok) + (now.total ? ' / ' + f.int(now.total) : ''), note: t.measured.sentFailed(f.int(now.sent), f.int(now.failed)) },
          { name: t.serving.inFlight, value: f.int(now.in_flight) },
          { name: t.fact.throughput, value: f.num(points.at(-1)!.y), unit: t.unit.tokensPerSecond },
          { name: t.measured.elapsed, value: f.seconds(now.t) },
        ]}
      />
      {points.length > 1 && (
        <Figure
          name="live"
          title={t.measured.smooth}
          data={{ head: ['s', t.unit.tokensPerSecond, t.serving.inFlight], rows: here.map((s) => [s.t, s.output_tokens_per_second, s.in_flight]) }}
          of={[seen]}
          draw={(width) => <Lines width={width} height={200} label={t.fact.throughput} series={[{ name: t.fact.throughput, tone: 1, points }]} xLabel={t.measured.elapsed} yLabel={t.unit.tokensPerSecond} xText={f.secondsUpTo(now.t)} yText={f.num} />}
        />
      )}
    </>
  )
}
