import type { PlanDoc } from '../api/training'
import { useLang, type Dict } from '../i18n'
import { Card, Facts } from '../ui/card'
import { PlanText } from '../ui/plan'
import { Told } from '../ui/told'
import { budgetFacts } from './budget'
import type { Answer } from './page'
import type { Priced } from './request'
import { editsOf } from './stated'
import type { Format } from '../units'

/** Verdict says which plan is best, how fast it goes and what binds it. */
export function Verdict({ answer, best, first, busy, settled, onSearch }: { answer: Answer; best: Priced | undefined; first: Priced | undefined; busy: boolean; settled: boolean; onSearch: () => void }) {
  const { t, f } = useLang()
  const doc = answer.doc
  const p = best?.result ?? first?.result ?? doc.best
  const gone = best ? undefined : first?.error // not even the first of the listed plans can run: there are no figures
  const like = f.secondsLike(p.step_seconds)
  const edits = editsOf(answer.asked, t)
  const text = best?.text ?? first?.text ?? ''
  return (
    <Card title={t.verdict.title} id="verdict">
      <div aria-busy={busy ? 'true' : undefined}>
        <p class="lead">
          {settled ? (p.fits ? t.verdict.best : t.verdict.nearest) : best ? t.verdict.bestListed : t.verdict.nearestListed} <PlanText text={text} />
        </p>
        {gone && <p class="sentence"><Told text={gone} /></p>}
        {!gone && <p class="sentence">
          {p.fits ? t.verdict.sentence(f.seconds(p.step_seconds), t.bound(p.bound), f.seconds(solOf(p.bound, p.sol) ?? p.lower_seconds)) : t.verdict.tooLarge(f.bytes(p.memory_bytes_per_gpu), f.bytes(p.memory_limit_bytes))}
        </p>}
        {!gone && <Facts
          facts={[
            { name: t.fact.step, value: f.even.seconds(p.step_seconds), note: t.fact.range(like(p.range_80.low_seconds), like(p.range_80.high_seconds)) },
            { name: t.fact.throughput, value: f.int(p.tokens_per_second_per_gpu), unit: t.unit.tokensPerSecond, note: t.unit.perGpu },
            { name: 'MFU', value: f.percent(p.mfu), note: t.fact.mfu },
            { name: t.fact.memory, value: f.bytes(p.memory_bytes_per_gpu), note: t.fact.of(f.bytes(p.memory_limit_bytes)) },
            { name: t.fact.binds, value: t.bound(p.bound), note: linkOf(p, t, f) },
            ...budgetFacts(p, answer.asked, t, f),
          ]}
        />}
        {edits.length > 0 && <p class="note">{t.verdict.edited(edits.join(', '))}</p>}
        {p.fits && !gone && <p class="note">{t.verdict.overlap(like(p.lower_seconds), like(p.upper_seconds))}</p>}
        {!settled && (
          <p class="note screen" id="listed">
            {t.verdict.listed(f.int(Math.max(1, doc.plans?.length ?? 0)))} <button type="button" onClick={onSearch}>{t.verdict.again}</button>
          </p>
        )}
        {settled && <p class="note">{t.verdict.searched(f.int(doc.searched), f.seconds(doc.search_seconds))}{doc.partial ? ' ' + t.verdict.partial : ''}</p>}
        {settled && doc.published && (
          <p class="note">
            {t.verdict.published(f.seconds(doc.published.step_seconds))} <cite>{doc.published.source}</cite>
          </p>
        )}
      </div>
    </Card>
  )
}

export function solOf(bound: string, sol: { compute_seconds: number; hbm_seconds: number; nvlink_seconds: number; network_seconds: number }): number | undefined {
  return (sol as unknown as Record<string, number>)[bound + '_seconds']
}

/** linkOf tells which link binds and how fast it is, nothing where none does. */
export const linkOf = (p: PlanDoc, t: Dict, f: Format): string | undefined =>
  p.bound_link_kind ? t.fact.link(p.bound_link_kind, p.bound === 'network', f.rate(p.bound_link_bytes_per_second)) : undefined
