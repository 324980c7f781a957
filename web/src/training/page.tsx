import { useMemo } from 'preact/hooks'
import type { ClusterDoc } from '../api/catalogue'
import type { PlanDoc, TrainDoc } from '../api/training'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import { fieldOf } from '../i18n/refusal'
import { ReportButton } from '../share/report'
import { movesOf, movesText, type Training } from '../state'
import type { Catalogue } from '../ui/catalogue'
import { Card } from '../ui/card'
import { Notes } from '../ui/notes'
import { clear, settled } from '../ui/numbers'
import { PlanText } from '../ui/plan'
import { Told } from '../ui/told'
import { Question, type Part } from '../ui/question'
import { Subject } from '../chart/figure'
import { useSearch, type Found } from '../ui/search'
import { Fields } from './form'
import { Links } from './links'
import { Memory } from './memory'
import { Plans } from './plans'
import { clusterOf, numbers, requestOf, shortPlan, type Priced } from './request'
import { Roofline } from './roofline'
import { editsOf, runOf } from './stated'
import { Timeline } from './timeline'
import { Verdict } from './verdict'
import { useWalls } from './price'
import { Walls } from './walls'
import { WhyNot } from './whynot'

export type Answer = Found<Training, TrainDoc>

// What a search depends on. Sliders move without one, beside the question that was searched.
const searched: (keyof Training)[] = ['model', 'config', 'cluster', 'batch', 'seq', 'precision', 'plan', 'mtp', 'tokens', 'price', 'net', 'up', 'hbm', 'nic', 'mem', 'nodeGpus']

export default function TrainingPage({ s, set, step, visit, catalogue }: Part<Training> & { catalogue: Catalogue }) {
  const { lang, t } = useLang()
  const cluster = useLoaded(s.cluster, () => clusterOf(s.cluster), 300)

  const found = useSearch<Training, TrainDoc>('train', (q) => requestOf(clear(q, numbers, lang)), s, visit)
  const { answer } = found
  const search = (change: Partial<Training>) => {
    const q = settled({ ...s, ...change, moved: '' }, numbers, lang)
    step(q)
    found.ask(q)
  }
  const stale = answer !== undefined && searched.some((k) => answer.asked[k] !== s[k])
  return (
    <Question
      fields={<Fields s={s} set={set} catalogue={catalogue} cluster={cluster.value} field={found.error ? fieldOf(found.error) : ''} />}
      found={found}
      stale={stale}
      find={() => search({})}
      say={{ find: t.ask.find, empty: t.training.empty, first: t.searchingFirst, progress: t.searching }}
    >
      {answer && <Shown answer={answer} s={s} set={set} cluster={cluster.value} search={search} />}
    </Question>
  )
}

function Shown({ answer, s, set, cluster, search }: { answer: Answer; s: Training; set: (c: Partial<Training>) => void; cluster: ClusterDoc | undefined; search: (c: Partial<Training>) => void }) {
  const { t } = useLang()
  const base = answer.asked
  const now: Training = useMemo(() => ({ ...base, ...movesOf(s.moved) }), [base, s.moved])
  const move = (c: Partial<Training>) => set({ moved: movesText({ ...movesOf(s.moved), ...c }, base) })
  const again = () => search({ ...base, ...movesOf(s.moved), pick: '', why: s.why })
  const walls = useWalls(answer, now)
  const moved = walls.moved && !walls.failed
  const { at } = walls // what is shown
  const list = walls.plans
  // Pictures show the plan that was chosen, else the one that leads now.
  const picked = list.findIndex((p) => p.text === s.pick)
  const index = picked >= 0 ? picked : Math.max(0, list.findIndex((p) => p === walls.best))
  const chosen: Priced | undefined = list[index]
  const plan: PlanDoc | undefined = chosen?.result
  const key = plan && !walls.pending ? JSON.stringify([at, shortPlan(plan), base]) : ''
  const { doc } = answer
  const turned = (['net', 'up', 'hbm'] as const).filter((k) => at[k] !== '1').map((k) => `${t.walls[k]} ×${at[k]}`)
  const subject = [doc.model, doc.cluster, `${t.ask.batch} ${at.batch}`, `${t.ask.seq} ${at.seq}`, at.precision, ...editsOf(base, t), ...turned, ...runOf(base, t)].join(', ')
  return (
    <Subject.Provider value={subject}>
      <Verdict answer={answer} best={walls.best} first={walls.first} busy={walls.busy} settled={!moved} onSearch={again} />
      <Walls answer={answer} s={now} move={move} back={() => set({ moved: '' })} walls={walls} cluster={cluster} />
      <Plans moved={moved} list={list} chosen={index} best={walls.best?.text ?? ''} onPick={(p) => set({ pick: p })} doc={answer.doc} />
      {chosen && !plan && <Impossible chosen={chosen} leader={walls.best && String(list.indexOf(walls.best) + 1)} onLeader={() => set({ pick: walls.best!.text })} />}
      {plan && (
        <Subject.Provider value={`${subject}: ${chosen!.text}`}>
          <Card title={t.training.pictures} aside={<PlanText text={chosen!.text} />}>
            <div class="pictures">
              <Roofline s={at} plan={chosen!} id={key} />
              <Links plan={plan} />
              <Timeline s={at} plan={chosen!} id={key} />
              <Memory s={at} plan={chosen!} id={key} />
            </div>
          </Card>
        </Subject.Provider>
      )}
      {walls.first?.result || walls.best ? <WhyNot answer={answer} s={s} now={at} set={set} best={walls.best?.result ?? walls.first!.result!} moved={moved && !walls.pending} /> : null}
      <Notes title={t.warnings} lines={[...(doc.warnings ?? []), ...(plan?.warnings ?? [])].filter((x, i, a) => a.indexOf(x) === i)} notes={[...(doc.notes ?? []), ...(plan?.notes ?? [])]} />
      <Notes title={t.assumptions} lines={doc.assumptions} notes={doc.notes} />
      <ReportButton name={`ridgeline-${answer.doc.model}-${answer.doc.cluster}`} />
    </Subject.Provider>
  )
}

/** Impossible stands where the pictures of a plan would, when the moved walls leave it none: why, and which plan has some. */
function Impossible({ chosen, leader, onLeader }: { chosen: Priced; leader: string | undefined; onLeader: () => void }) {
  const { t } = useLang()
  return (
    <Card title={t.training.pictures} aside={<PlanText text={chosen.text} />} id="impossible">
      <p>{t.training.impossible}</p>
      <p class="sentence"><Told text={chosen.error ?? ''} /></p>
      {leader && <button type="button" onClick={onLeader}>{t.training.leader(leader)}</button>}
    </Card>
  )
}
