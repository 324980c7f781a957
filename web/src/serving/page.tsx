import type { InferDoc, Point } from '../api/serving'
import { useLang } from '../i18n'
import { fieldOf } from '../i18n/refusal'
import { ReportButton } from '../share/report'
import type { Serving } from '../state'
import type { Catalogue } from '../ui/catalogue'
import { Card, Facts } from '../ui/card'
import { Notes } from '../ui/notes'
import { clear, settled } from '../ui/numbers'
import { Failed } from '../ui/states'
import { PlanText } from '../ui/plan'
import { Question, type Part } from '../ui/question'
import { Subject } from '../chart/figure'
import { useSearch, type Found } from '../ui/search'
import { Kv, Latency } from './capacity'
import { Curves } from './curves'
import { Fields } from './form'
import { Cost, Pareto, useFronts } from './pareto'
import { Ratio } from './ratio'
import { numbers, planText, requestOf } from './request'
import { Points, Strategies } from './tables'

export default function ServingPage({ s, set, step, visit, catalogue }: Part<Serving> & { catalogue: Catalogue }) {
  const { lang, t } = useLang()
  const found = useSearch<Serving, InferDoc>('infer', (q) => requestOf(clear(q, numbers, lang)), s, visit)
  const { answer } = found
  const stale = answer !== undefined && (Object.keys(s) as (keyof Serving)[]).some((k) => s[k] !== answer.asked[k])
  return (
    <Question
      fields={<Fields s={s} set={set} catalogue={catalogue} field={found.error ? fieldOf(found.error) : ''} />}
      found={found}
      stale={stale}
      find={() => {
        const q = settled(s, numbers, lang)
        step(q)
        found.ask(q)
      }}
      say={{ find: t.ask.findServing, empty: t.serving.empty, first: t.serving.searching, progress: t.serving.progress }}
    >
      {answer && <Shown answer={answer} />}
    </Question>
  )
}

// A first round that waits less than this times the others waits as they do.
const alike = 1.001

function Shown({ answer }: { answer: Found<Serving, InferDoc> }) {
  const { t, f } = useLang()
  const { doc } = answer
  const b = doc.best
  const price = answer.asked.price.trim() && `${answer.asked.price.trim()} USD/GPU·h`
  const name = `${doc.model}-${doc.clusters.join('-')}`
  const subject = `${doc.model}, ${doc.clusters.join(', ')}, ${t.serving.isl} ${doc.isl}, ${t.serving.osl} ${doc.osl}, ${b.weights}, KV ${b.kv}${price && `, ${t.ask.price} ${price}`}: ${planText(b.plan)}`
  const format = [{ name: t.serving.spec, value: b.spec, note: `${b.weights}, KV ${b.kv}` }, ...(b.net_rtt_seconds === null ? [] : [{ name: t.serving.rtt, value: f.seconds(b.net_rtt_seconds) }])]
  const { ttft_steady_seconds: steady, ttft_burst_seconds: burst } = b
  const span = (most: number | undefined, range: [number, number] | null): string | undefined =>
    [...(most ? [`≤ ${f.seconds(most)}`] : []), ...(range ? [t.fact.range(f.even.seconds(range[0]), f.even.seconds(range[1]))] : [])].join('; ') || undefined
  const served = [
    { name: 'TTFT', value: f.even.seconds(b.ttft_seconds), note: span(doc.slo?.ttft_seconds, b.ttft_range_seconds) },
    { name: 'TPOT', value: f.even.seconds(b.tpot_seconds), note: span(doc.slo?.tpot_seconds, b.tpot_range_seconds) },
    { name: t.serving.user, value: f.num(b.tokens_per_second_per_user), unit: t.unit.tokensPerSecond },
    { name: t.serving.gpu, value: f.num(b.output_tokens_per_second_per_gpu), unit: t.unit.tokensPerSecond },
    { name: t.serving.cost, value: f.usd(b.cost_per_million_output_tokens_usd), note: [t.serving.perMillion, ...(b.cost_per_million_output_tokens_usd !== null && price ? [price] : [])].join('; ') },
    { name: t.serving.capacity, value: f.count(b.kv_capacity_tokens), unit: t.unit.tokens, note: t.serving.requests(f.int(b.max_concurrency)) },
    ...(doc.experts_touched_per_layer !== null && doc.routed_experts_per_layer !== null ? [{ name: t.serving.touched, value: f.num(doc.experts_touched_per_layer), note: t.serving.ofExperts(f.int(doc.routed_experts_per_layer)) }] : []),
  ]
  return (
    <Subject.Provider value={subject}>
      <Card title={t.verdict.title} id="verdict">
        <p class="lead">
          {!b.fits ? t.verdict.nearest : !doc.slo ? t.serving.best2 : !b.meets_slo ? t.serving.missed : b.cost_per_million_output_tokens_usd === null ? t.serving.bestOutput : t.serving.best} <PlanText text={planText(b.plan)} />
        </p>
        <p class="sentence">{b.fits ? t.serving.sentence(f.int(b.gpus), t.serving.load(f.int(b.concurrency)), b.cluster, t.bound(b.bound)) : t.verdict.tooLarge(f.bytes(b.memory_bytes_per_gpu), f.bytes(b.memory_limit_bytes))}</p>
        <Facts facts={b.fits ? [...served, ...format] : format} />
        {steady !== null && burst !== null && burst > steady * alike && <p class="note">{t.serving.rounds(f.seconds(burst), f.seconds(steady))}</p>}
        <p class="note">{t.serving.searched(f.int(doc.counts.priced), f.seconds(doc.search_seconds))}</p>
      </Card>
      {b.fits ? <Pictures answer={answer} name={name} /> : <Nothing best={b} />}
      <Notes title={t.warnings} lines={doc.warnings} notes={doc.notes} />
      <Notes title={t.assumptions} lines={doc.assumptions} notes={doc.notes} />
      <ReportButton name={`ridgeline-serving-${name}`} />
    </Subject.Provider>
  )
}

/** Nothing stands where nothing fits: what the nearest deployment holds against the limit, and what would help. */
function Nothing({ best }: { best: Point }) {
  const { t } = useLang()
  return (
    <Card title={t.serving.nearestTitle} id="nothing">
      <p class="note">{t.serving.nothing}</p>
      <Kv best={best} />
    </Card>
  )
}

/** Pictures are what can be drawn and listed of deployments that fit. */
function Pictures({ answer, name }: { answer: Found<Serving, InferDoc>; name: string }) {
  const { t } = useLang()
  const { doc, asked } = answer
  const b = doc.best
  const fronts = useFronts(answer)
  return (
    <>
      <Card title={t.serving.trade} id="pareto">
        <div class="pictures">
          <Pareto doc={doc} fronts={fronts.list} busy={fronts.busy} />
          <Cost doc={doc} fronts={fronts.list} busy={fronts.busy} />
        </div>
        {fronts.error && <Failed error={fronts.error} />}
      </Card>
      <Curves asked={asked} best={b} />
      <Card title={t.serving.room} id="capacity">
        <div class="pictures">
          <Kv best={b} />
          <Latency doc={doc} />
        </div>
      </Card>
      <Ratio asked={asked} best={b} />
      <Points doc={doc} name={name} />
      <Strategies doc={doc} name={name} />
    </>
  )
}
