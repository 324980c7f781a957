import { expect, test } from '@playwright/test'
import { badFigure, search, unclear } from '../src/api/client'
import { asProblem } from '../src/api/use'
import { languages, speech, type Language } from '../src/i18n'
import { fieldOf, labelOf, refusal } from '../src/i18n/refusal'
import { requestOf as askBench, type Load } from '../src/measured/request'
import { numbers as ofServing, requestOf as askServing } from '../src/serving/request'
import { servingDefaults, trainingDefaults, type Serving, type Training } from '../src/state'
import { numbers as ofTraining, requestOf as askTraining } from '../src/training/request'
import { clear } from '../src/ui/numbers'

const training: Training = { ...trainingDefaults, model: 'llama-3.1-8b', cluster: 'h100x16', batch: '64', precision: 'bf16' }
const serving: Serving = { ...servingDefaults, model: 'llama-3.1-8b', clusters: 'h100x16', spec: 'none', concurrency: '8', isl: '64', osl: '64' }

const load: Load = { url: `http://127.0.0.1:${Number(process.env.RIDGELINE_PORT ?? 8931) + 1}/v1`, model: 'llama-3.1-8b', isl: '64', osl: '16', concurrency: '1', requests: '2' }

/** What people write by mistake, by field: empty, no number, out of range, of another language, a name that is none, what does not fit. */
const wrongTraining: Partial<Record<keyof Training, string[]>> = {
  model: ['', 'lama-3.1-8b', '?'],
  cluster: ['', '0', 'x', 'h100', 'h1000x8', 'h100x0', 'h100xa', 'h100x12', 'h100x8,h100x8'],
  batch: ['', '0', '-1', 'x', '1.5', '1,5', '1e30', '5GB', '99999999999'],
  seq: ['', '0', '-1', 'x', '1.5', '99999999999'],
  precision: ['fp9'],
  plan: ['0', 'foo=1', 'tp=x', 'tp=3', 'tp=2,tp=4', 'ep=8', 'pp=64', 'zero=2,pp=2', 'fsdp,zero=1', 'recompute=moe', 'recompute=all'],
  mtp: ['x', '-1', '1.5', '1'],
  tokens: ['0', '-1', 'x', '1.5', '1e30', '5GB'],
  price: ['-1', 'x', '99999999999', '5GB'],
  nic: ['0', 'x', '1e30', '5GB'],
  mem: ['0', 'x', '1e30'],
  nodeGpus: ['0', 'x', '1.5', '3', '99999999999'],
}
const wrongServing: Partial<Record<keyof Serving, string[]>> = {
  model: ['', 'lama-3.1-8b'],
  clusters: ['', 'x', 'h100', 'h1000x8', 'h100x12', 'h100x8,', 'h100x8,h100x8'],
  isl: ['', '0', '-1', 'x', '1.5', '8..1', '99999999999', '9999999'],
  osl: ['', '0', '1', 'x', '1.5'],
  concurrency: ['', '0', '-1', 'x', '1.5', '1.024', '8..1', '1,1', '99999999999'],
  ttft: ['0', '-1', 'x', '5GB', '1,2,3'],
  tpot: ['0', 'x', '20ms'],
  spec: ['x', 'mtp', 'mtp:1', 'mtp:9', 'mtp:1:2', 'mtp:99:0.5', 'draft:x:1:0.5', 'draft:llama-3.1-70b'],
  price: ['-1', 'x', '99999999999', '1;2'],
  plan: ['0', 'foo=1', 'tp=x', 'tp=3', 'tp=32', 'ep=8', 'prefill:tp=1', 'fsdp', '1;2'],
  weights: ['fp9'],
  rtt: ['x', '-1', '5', '5GB', '1ms,1ms'],
  engine: ['ollama'],
}

const wrongLoad: Partial<Record<keyof Load & string, string[]>> = {
  isl: ['', '0', '-1', 'x', '1.5', '1,024', '1.024', '99999999999'],
  osl: ['', '0', '-1', 'x', '1.5', '1,024', '1.024'],
  requests: ['', '0', '-1', 'x', '1.5', '2.000', '2,000', '99999999999'],
  concurrency: ['', '0', 'x', '1.5', '1.024', '8..1', '1,1', '99999999999'],
}

// What only English sentences have.
const english = /\b(or|and|the|give|use|write|is|has|have|unknown|not|leave|did you mean|for example|such as)\b/

test.describe('a refusal that the form causes is said in the language of the page, under the name of its field', () => {
  const own = globalThis.fetch
  test.beforeAll(({}, info) => {
    globalThis.fetch = ((path: string, init: RequestInit) => own(info.project.use.baseURL + path, init)) as typeof fetch
  })
  test.afterAll(() => {
    globalThis.fetch = own
  })
  const ask = async <S extends Record<string, string>>(path: string, form: S, k: keyof S & string, wrong: string, body: (s: S, lang: Language) => Promise<unknown>): Promise<string[]> => {
    const bad: string[] = []
    for (const lang of Object.keys(languages) as Language[]) {
      const at = `${lang} ${k}=${wrong}`
      try {
        await search(path, await body({ ...form, [k]: wrong }, lang), AbortSignal.timeout(30_000), () => {})
        bad.push(`${at}: answered`)
      } catch (e) {
        const problem = asProblem(e)
        const say = speech(lang)
        const label = labelOf(k === 'clusters' ? 'cluster' : k, say.t)
        if (problem.status === badFigure || problem.status === unclear) {
          if (problem.field !== k) bad.push(`${at}: of ${problem.field}`)
          continue
        }
        const { text, english: left } = refusal(problem, say)
        if (problem.status !== 422) bad.push(`${at}: ${problem.status} ${text}`)
        if (!text.startsWith(label)) bad.push(`${at}: of ${fieldOf(problem)}, not ${label}: ${text}`)
        if (lang !== 'en' && (left || english.test(text.replace(/`[^`]*`|"[^"]*"/g, '')))) bad.push(`${at}: ${text}`)
      }
    }
    return bad
  }
  for (const [k, list] of Object.entries(wrongTraining) as [keyof Training, string[]][])
    test(`training: ${k}`, async () => {
      const bad = await Promise.all(list.map((wrong) => ask('train', training, k, wrong, (s, lang) => askTraining(clear(s, ofTraining, lang)))))
      expect(bad.flat()).toEqual([])
    })
  for (const [k, list] of Object.entries(wrongServing) as [keyof Serving, string[]][])
    test(`serving: ${k}`, async () => {
      const bad = await Promise.all(list.map((wrong) => ask('infer', serving, k, wrong, (s, lang) => askServing(clear(s, ofServing, lang)))))
      expect(bad.flat()).toEqual([])
    })
  for (const [k, list] of Object.entries(wrongLoad) as [keyof Load & string, string[]][])
    test(`bench: ${k}`, async () => {
      const bad = await Promise.all(list.map((wrong) => ask('bench', load, k, wrong, async (s, lang) => askBench(s, lang))))
      expect(bad.flat()).toEqual([])
    })
})

test('a refused field is marked, in a fold that opens', async ({ page }) => {
  const cases = [['training?batch=2.000', 'Global batch'], ['training?tokens=x', 'Tokens of the run'], ['serving?rtt=x', 'Round trip']] as const
  for (const [question, label] of cases) {
    await page.goto('/#/' + question)
    await page.reload()
    const field = page.getByLabel(label)
    await expect(field).toHaveAttribute('aria-invalid', 'true')
    await expect(field).toBeVisible()
  }
})
