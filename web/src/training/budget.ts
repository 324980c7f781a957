import type { PlanDoc } from '../api/training'
import type { Dict } from '../i18n'
import type { Training } from '../state'
import type { Fact } from '../ui/card'
import type { Format } from '../units'

/** budgetFacts are days and cost of the whole run, where its tokens are known, beside the tokens and the price that make them. */
export function budgetFacts(p: PlanDoc, asked: Training, t: Dict, f: Format): Fact[] {
  const out: Fact[] = []
  if (p.days != null) out.push({ name: t.fact.days, value: f.num(p.days), unit: t.unit.days, ...(asked.tokens.trim() ? { note: `${asked.tokens.trim()} ${t.unit.tokens}` } : {}) })
  if (p.cost_usd != null) out.push({ name: t.fact.cost, value: f.usd(p.cost_usd), ...(asked.price.trim() ? { note: `${asked.price.trim()} USD/GPU·h` } : {}) })
  if (!out.length) out.push({ name: t.fact.gpuHours, value: f.int(p.gpu_hours_per_trillion_tokens), unit: 'GPU·h', note: t.fact.perTrillion })
  return out
}
