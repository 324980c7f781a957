import type { PlanDoc, Rejected } from '../api/training'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import type { Training } from '../state'
import { Card, Facts } from '../ui/card'
import { Select } from '../ui/field'
import { Failed } from '../ui/states'
import { PlanText } from '../ui/plan'
import { Told } from '../ui/told'
import type { Answer } from './page'
import { familyOf, price, shortPlan } from './request'
import { linkOf } from './verdict'

interface Props {
  answer: Answer
  s: Training
  now: Training
  set: (c: Partial<Training>) => void
  best: PlanDoc
  moved: boolean
}

/** WhyNot answers "why not FSDP?" in two sentences and the numbers. */
export function WhyNot({ answer, s, now, set, best, moved }: Props) {
  const { t } = useLang()
  const others = (answer.doc.rejected ?? []).filter((r) => r.result)
  const chosen = others.find((r) => r.name === s.why) ?? others[0]
  const key = moved && chosen ? JSON.stringify([now, chosen.name]) : ''
  const again = useLoaded(key, (signal) => price(now, [familyOf(chosen!.plan)], signal), 60)
  if (!chosen) return null
  const fresh = moved ? again.value?.[0] : undefined
  const result = fresh?.result ?? chosen.result!
  const name = t.alternative(chosen.name)
  return (
    <Card title={t.why.title(name)} id="whynot">
      <Select label={t.why.choose} value={chosen.name} options={others.map((r): [string, string] => [r.name, t.alternative(r.name)])} onChange={(v) => set({ why: v })} id="whynot-choice" />
      {moved && again.error ? <Failed error={again.error} /> : fresh?.error ? <p class="sentence"><Told text={fresh.error} /></p> : <Reasons r={result} best={best} other={chosen} />}
      <Illegal answer={answer} />
    </Card>
  )
}

function Reasons({ r, best, other }: { r: PlanDoc; best: PlanDoc; other: Rejected }) {
  const { t, f } = useLang()
  const link = Math.max(r.sol.nvlink_seconds, r.sol.network_seconds)
  const which = r.sol.nvlink_seconds >= r.sol.network_seconds ? t.bound('nvlink') : t.bound('network')
  const first = r.fits ? t.why.fits(f.bytes(r.memory_bytes_per_gpu), f.bytes(r.memory_limit_bytes)) : t.why.tooLarge(f.bytes(r.memory_bytes_per_gpu), f.bytes(r.memory_limit_bytes), largest(r, t.part, f))
  const times = r.step_seconds / best.step_seconds
  const second =
    Math.abs(times - 1) < 5e-4
      ? t.why.same(f.seconds(r.step_seconds))
      : times < 1
      ? (r.fits ? t.why.leads : t.why.faster)(f.seconds(r.step_seconds), f.seconds(best.step_seconds))
      : link > r.sol.compute_seconds
        ? t.why.linkBound(f.seconds(r.step_seconds), f.seconds(best.step_seconds), f.ratio(times), which, f.seconds(link), f.seconds(r.sol.compute_seconds))
        : t.why.slower(f.seconds(r.step_seconds), f.seconds(best.step_seconds), f.ratio(times), costs(r, best, t.part, f))
  return (
    <div aria-live="polite" id="whynot-answer">
      <p class="sentence">{first} {second}</p>
      <p class="note"><PlanText text={shortPlan(r)} /></p>
      <Facts
        facts={[
          { name: t.fact.step, value: f.seconds(r.step_seconds), note: t.why.best(f.seconds(best.step_seconds)) },
          { name: t.fact.memory, value: f.bytes(r.memory_bytes_per_gpu), note: t.fact.of(f.bytes(r.memory_limit_bytes)) },
          { name: t.bound('compute'), value: f.seconds(r.sol.compute_seconds), note: t.why.best(f.seconds(best.sol.compute_seconds)) },
          { name: t.bound('nvlink'), value: f.seconds(r.sol.nvlink_seconds), note: t.why.best(f.seconds(best.sol.nvlink_seconds)) },
          { name: t.bound('network'), value: f.seconds(r.sol.network_seconds), note: t.why.best(f.seconds(best.sol.network_seconds)) },
          { name: t.fact.binds, value: t.bound(r.bound), note: other.name === 'plain FSDP' ? linkOf(r, t, f) : undefined },
        ]}
      />
    </div>
  )
}

/** largest names the two parts of memory that weigh most. */
function largest(r: PlanDoc, names: (k: string) => string, f: { bytes: (v: number) => string }): string {
  return Object.entries(r.memory)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 2)
    .map(([k, v]) => `${names(k)} ${f.bytes(v)}`)
    .join(', ')
}

/** costs names what takes longer than in the best plan, the two worst. */
function costs(r: PlanDoc, best: PlanDoc, names: (k: string) => string, f: { seconds: (v: number) => string }): string {
  const more = [['kernels', r.kernel_seconds - best.kernel_seconds] as const, ...Object.entries(r.exposed).map(([k, v]) => [k, v - (best.exposed[k] ?? 0)] as const)]
  return more
    .filter(([, v]) => v > best.step_seconds * 1e-3)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 2)
    .map(([k, v]) => `${names(k)} +${f.seconds(v)}`)
    .join(', ')
}

function Illegal({ answer }: { answer: Answer }) {
  const { t, f } = useLang()
  const list = (answer.doc.rejected ?? []).filter((r) => !r.result)
  if (!list.length) return null
  return (
    <details class="notes">
      <summary>{t.why.illegal(f.int(list.reduce((s, r) => s + r.count, 0)))}</summary>
      <ul>
        {list.map((r) => (
          <li key={r.name}>
            <span class="n">{f.int(r.count)}</span> <Told text={r.name} />: <Told text={r.reason} />
          </li>
        ))}
      </ul>
    </details>
  )
}
