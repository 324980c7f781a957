import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { parseEvent, Problem } from '../src/api/client'
import { anchorAt } from '../src/chart/axes'
import { csv } from '../src/chart/export'
import { log } from '../src/chart/scale'
import { preferred } from '../src/i18n'
import { en } from '../src/i18n/en'
import { vi } from '../src/i18n/vi'
import { rttText, variants } from '../src/serving/pareto'
import { viNotes } from '../src/i18n/notes'
import { inVietnamese, nameInVietnamese } from '../src/i18n/phrases'
import { enProblems, viProblems } from '../src/i18n/problems'
import { meansOf } from '../src/measured/live'
import { beside, doubtsOf, invalidIn, loadsOf } from '../src/measured/runs'
import { keysOf, look } from '../src/chart/lines'
import { fileModel } from '../src/training/form'
import { pack, unpack } from '../src/share/pack'
import { address, movesOf, movesText, parse, questionOf, trainingDefaults } from '../src/state'
import { asNumber, clear, listed, pointed, settled, ways } from '../src/ui/numbers'
import { fieldOf, labelled } from '../src/i18n/refusal'
import { waitsIn } from '../src/training/passes'
import { density, spentOf } from '../src/training/density'
import { knobsOf } from '../src/training/price'
import { steps } from '../src/training/walls'
import { formats } from '../src/units'
import type { InferDoc, Point } from '../src/api/serving'
import type { Pass } from '../src/api/training'

test('the address holds the state and defaults stay out of it', () => {
  const s = parse('#/training?model=gpt3-175b&net=0.5&unknown=1')
  expect(s.training.model).toBe('gpt3-175b')
  expect(parse(address(s))).toEqual(s)
  expect(address(parse('#/nowhere'))).toBe('#/training')
  expect(address({ ...s, training: { ...trainingDefaults } })).toBe('#/training')
  const odd = { ...s, training: { ...trainingDefaults, plan: 'pp=2,tp=4&x=#?%' } }
  expect(parse(address(odd))).toEqual(odd)
})

test('the address holds the questions of the other tabs', () => {
  const s = parse('#/serving?model=llama-3.1-8b&also=training?batch%3D512%26plan%3Dtp%253D8')
  expect([s.tab, s.serving.model, s.training.batch, s.training.plan]).toEqual(['serving', 'llama-3.1-8b', '512', 'tp=8'])
  expect(parse(address(s))).toEqual(s)
  expect(parse(address({ ...s, tab: 'measured' }))).toEqual({ ...s, tab: 'measured' })
  expect(questionOf(s)).toBe(questionOf(parse('#/serving?model=llama-3.1-8b'))) // what is asked is of the tab alone
})

test('numbers are read as the page writes them, or refused with what to write', () => {
  expect(ways('2.000', 'whole', 'vi')).toEqual(['2000', '2'])
  expect(ways('2.000', 'whole', 'en')).toEqual(['2000', '2'])
  expect(ways('2,048', 'whole', 'en')).toEqual(['2048'])
  expect(ways('1.024.000', 'whole', 'vi')).toEqual(['1024000'])
  expect(ways('1.024', 'decimal', 'vi')).toEqual(['1024', '1.0240'])
  expect(ways('1,500', 'decimal', 'en')).toEqual(['1500', '1.5'])
  expect(ways('14.875T', 'decimal', 'vi')).toEqual(['14875T', '14.8750T'])
  for (const text of ['15360', '0.125', '2.5', '14.8T', '20,5', '']) for (const l of ['en', 'vi'] as const) expect(ways(text, 'decimal', l)).toEqual([])
  expect(ways('48.125', 'decimal', 'en')).toEqual([])
  expect(ways('2,5', 'list', 'vi')).toEqual(['2; 5', '2.5'])
  for (const text of ['2,5', '2.5; 3', '2']) expect(ways(text, 'list', 'en')).toEqual([])
  for (const text of ways('14.875T', 'decimal', 'vi').concat(ways('2,5', 'list', 'vi'))) expect(ways(text, text.includes(';') ? 'list' : 'decimal', 'vi')).toEqual([])
  expect([pointed('20,5'), pointed('14,8T'), pointed('1,500'), listed('2,5; 3'), listed('2,3')]).toEqual(['20.5', '14.8T', '1,500', '2.5,3', '2,3'])
  expect([asNumber('2.000'), asNumber('2000'), asNumber('x'), asNumber('1,5k')]).toEqual(['2.000', 2000, 'x', '1.5k'])
  expect(() => clear({ isl: '1.024' }, { isl: 'whole' }, 'vi')).toThrow(Problem)
})

test('what one language reads is written as all read it, for the address', () => {
  for (const [text, kind] of [['1.250', 'decimal'], ['12.125', 'decimal'], ['14.875T', 'decimal'], ['2,3', 'list'], ['1,4,16', 'list']] as const) {
    expect(ways(text, kind, 'vi')).not.toEqual([])
    const { x } = settled({ x: text }, { x: kind }, 'en')
    for (const l of ['en', 'vi'] as const) expect(ways(x, kind, l)).toEqual([])
    if (kind === 'list') expect(listed(x)).toBe(text)
    else expect(parseFloat(pointed(x))).toBe(parseFloat(text))
  }
  for (const text of ['2.5', '20,5', '2000', 'x', '']) expect(settled({ x: text }, { x: 'decimal' }, 'vi').x).toBe(text)
  expect(settled({ x: '1.024' }, { x: 'whole' }, 'en').x).toBe('1.024') // refused
})

test('refusals name the field as the form does', () => {
  expect(labelled('global_batch: "x" as a count', en)).toBe('Global batch: "x" as a count')
  expect(labelled('slo: tpot: "20" as a time', en)).toBe('TPOT at most: "20" as a time')
  expect(labelled('seq 0: give 1', en)).toBe('Sequence length 0: give 1')
  expect(labelled('plan key tp=3', en)).toBe('plan key tp=3')
})

test('moves of sliders survive the address, others are ignored', () => {
  const moves = { net: '0.5', batch: '512' }
  expect(movesOf(movesText(moves, trainingDefaults))).toEqual(moves)
  expect(movesText({ net: '1' }, trainingDefaults)).toBe('')
  expect(movesOf('model=x,net=2,,up')).toEqual({ net: '2' })
  for (const v of ['0', '-1', 'NaN', 'Infinity', 'x', ' ']) { // where no slider can stand
    expect(movesOf(`net=${v},batch=${v},hbm=2`)).toEqual({ hbm: '2' })
    expect(parse(`#/training?up=${v}&hbm=2`).training).toEqual({ ...trainingDefaults, hbm: '2' })
  }
  expect(movesOf('batch=1.5')).toEqual({})
  expect(parse('#/training?net=1e300').training.net).toBe('1e300') // the server says why not
})

test('a config survives the address', async () => {
  const config = { architectures: ['X'], text: 'Đường ống', n: 1.5, deep: { list: [1, null, true] } }
  const text = await pack(config)
  expect(text).toMatch(/^[\w-]+$/)
  expect(await unpack(text)).toEqual(config)
  await expect(unpack('!!')).rejects.toThrow()
})

test('quantities carry units and the number format of the language', () => {
  const f = formats('en')
  expect(f.seconds(20.2014)).toBe('20.2\u00a0s')
  expect(f.seconds(0.000193)).toBe('193\u00a0µs')
  expect(f.seconds(176.14)).toBe('176.1\u00a0s')
  expect(f.bytes(75.2e9)).toBe('75.2\u00a0GB')
  expect(f.rate(3e12)).toBe('3\u00a0TB/s')
  expect(f.flopRate(989e12)).toBe('989\u00a0TFLOP/s')
  expect(f.percent(0.385)).toBe('38.5\u00a0%')
  expect(f.seconds(null)).toBe('–')
  expect([f.seconds(751.8), f.secondsLike(751.8)(586.8)]).toEqual(['12.53\u00a0min', '9.780\u00a0min'])
  expect([f.even.seconds(6.02), f.even.bytes(58.7e9), f.even.num(597), f.even.num(11068), f.even.usd(0.116), f.even.num(null)]).toEqual(['6.020\u00a0s', '58.70\u00a0GB', '597.0', '11,068', '$0.1160', '–'])
  expect([anchorAt(98, '5.5 ms', 100), anchorAt(50, '5.5 ms', 100), anchorAt(2, '5.5 ms', 100)]).toEqual(['end', 'middle', 'start'])
  expect(formats('vi').seconds(20.2014)).toBe('20,2\u00a0s')
})

test('CSV quotes what needs it and holds no formula', () => {
  expect(csv(['a', 'b'], [['x,y', 1.5], ['he said "so"', null], ['=1+1', -2]])).toBe('a,b\r\n"x,y",1.5\r\n"he said ""so""",\r\n\'=1+1,-2\r\n')
})

test('events of a stream are read', () => {
  expect(parseEvent('event: progress\ndata: {"done":1,\ndata: "all":2}')).toEqual({ name: 'progress', data: { done: 1, all: 2 } })
  expect(parseEvent(': a comment')).toBeUndefined()
})

test('marks of a log axis are round and not too many', () => {
  const s = log([145, 6264], [0, 300])
  expect(s.marks(6)).toEqual([200, 500, 1000, 2000, 5000])
  expect(log([1e9, 1e15], [0, 300]).marks(4).every((v) => Number.isInteger(Math.log10(v)))).toBe(true)
})

test('variants keep each its own front, whatever the others reach', () => {
  const p = (cluster: string, x: number, y: number) => ({ cluster, spec: 'none', net_rtt_seconds: null, tokens_per_second_per_user: x, output_tokens_per_second_per_gpu: y }) as Point
  const fronts = [[p('slow', 10, 5), p('slow', 5, 9)], [p('fast', 20, 10)], []]
  expect(variants({ fronts } as unknown as InferDoc)).toEqual([{ name: 'slow', points: fronts[0] }, { name: 'fast', points: fronts[1] }])
})

test('a round trip is named and asked again as it was given', () => {
  const p = { cluster: 'x', spec: 'none', net_rtt_seconds: 2e-4, tokens_per_second_per_user: 1, output_tokens_per_second_per_gpu: 1 } as Point
  expect(variants({ fronts: [[p]] } as unknown as InferDoc)[0]!.name).toBe('x, rtt 200 µs')
  expect([7e-5, 1e-3, 1.1e-7].map(rttText)).toEqual(['70us', '1ms', '0.11us'])
})

test('series beyond the tones have marks of their own', () => {
  const looks = Array.from({ length: 12 }, (_, i) => look(i))
  expect(new Set(looks.map((x) => JSON.stringify(x))).size).toBe(12)
  const names = (n: number) => keysOf(looks.slice(0, n).map((x) => ({ name: 'a', ...x }))).map((k) => k.name)
  expect(names(8)).toEqual(Array(8).fill('a'))
  expect(names(12).slice(7, 9)).toEqual(['● a', '■ a'])
})

test('output of a running bench weighs each sample by its time', () => {
  const x = (t: number, rate: number) => ({ t, output_tokens_per_second: rate })
  expect(meansOf([x(0.25, 100), x(0.5, 100)])).toEqual([100, 100])
  // A pause of 1.5 s, then the backlog within 10 ms: 300 tokens in 1.76 s, of which the service makes 165 a second.
  expect(meansOf([x(0.25, 160), x(1.75, 150), x(1.76, 3500)]).at(-1)).toBeCloseTo(300 / 1.76, 6)
  // What lies more than 2 s back does not count, nor does the part of a sample that does.
  expect(meansOf([x(1, 9999), x(4, 50), x(5, 100)]).at(-1)).toBeCloseTo(75, 6)
  expect(meansOf([x(0, 7)])).toEqual([7])
})

test('a client that is not valid is a doubt of its stage', () => {
  const level = (n: number) => `at ${n}`
  const d = { stages: [{ concurrency: 1, rate: 0, warnings: ['w'], client: { valid: false, reasons: ['late'] } }, { concurrency: 2, rate: 0, warnings: ['w'], client: { valid: true, reasons: [] } }, { concurrency: 4, rate: 0 }], warnings: ['whole'] }
  expect(invalidIn(d, level)).toEqual(['at 1'])
  expect(doubtsOf(d, level, 'not valid').lines).toEqual([
    { where: '', text: 'whole' },
    { where: 'at 1, not valid', text: 'late' },
    { where: 'at 1; at 2', text: 'w' },
  ])
})

test('a dropped model is called as its file', () => {
  expect(['Qwen3-30B.json', 'meta-llama--Llama-3.1-8B_config.json', 'config.json'].map(fileModel)).toEqual(['Qwen3-30B', 'meta-llama/Llama-3.1-8B', 'config.json'])
})

test('steps of the batch are whole and hold the batch', () => {
  expect(steps(256)).toEqual([32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048])
  expect(steps(1)[0]).toBe(1)
})

test('both languages say everything', () => {
  const paths = (o: object, at = ''): string[] => Object.entries(o).flatMap(([k, v]) => (typeof v === 'object' && v !== null ? paths(v as object, `${at}${k}.`) : [`${at}${k}`]))
  expect(paths(vi)).toEqual(paths(en))
  for (const k of ['bound', 'part', 'phase', 'pass'] as const) expect(Object.keys(vi[k].known)).toEqual(Object.keys(en[k].known))
  expect(preferred(['fr-FR', 'vi-VN', 'en'])).toBe('vi')
  expect(preferred(['fr'])).toBe('en')
})

test('a refusal of an edited cluster is about the figure that was edited', () => {
  const of = (code: string, values: Record<string, unknown>) => fieldOf(new Problem('', 422, 'cluster', code, values))
  expect(of('figure_range', { key: 'node.nic_gb_per_s_per_gpu' })).toBe('nic')
  expect(of('figure_not_whole', { key: 'node.gpus' })).toBe('nodeGpus')
  expect(of('nodes_unfilled', { cluster: 'h100x16-edited' })).toBe('nodeGpus')
  expect(of('nodes_unfilled', { cluster: 'h100x12' })).toBe('cluster')
})

test('names that the server chooses from are said in Vietnamese', () => {
  const named = (file: string, what: RegExp): string[] => [...readFileSync(new URL('../../internal/' + file, import.meta.url), 'utf8').matchAll(what)].map((m) => m[1]!)
  const strategies = named('api/infer_strategies.go', /^\t\{"([^"]+)", func/gm)
  const families = [...named('advise/alternatives.go', /\{name: "([^"]+)"/g), ...named('advise/alternatives.go', /PlainFSDP = "([^"]+)"/g)]
  expect(strategies.length).toBeGreaterThan(5)
  expect(families.length).toBeGreaterThan(5)
  expect(strategies.filter((x) => vi.strategy(x) === x)).toEqual([])
  expect(families.filter((x) => vi.alternative(x) === x)).toEqual([])
})

test('what a bench does not state stays missing and is not 0', () => {
  const stage = { concurrency: 4, rate: null, ttft_ms: { mean: null }, tpot_ms: null, output_tokens_per_second: null }
  const [one, two] = loadsOf({ stages: [stage, { ...stage, concurrency: 8, ttft_ms: { mean: 20 }, output_tokens_per_second: 0 }] })
  expect(one).toMatchObject({ concurrency: 4, ttft: null, tpot: null, output: null })
  expect(two).toMatchObject({ concurrency: 8, ttft: 0.02, tpot: null, output: 0 })
})

test('waits take their share of a pass, from its end, and never more than the pass', () => {
  const at = { x: 10, y: 0, width: 100, height: 8 }
  const pass = { pass: 'F', microbatch: 0, chunk: 0, start: 1, end: 3 }
  expect(waitsIn({ ...pass, waits: { ep: 0.5, tp: 0.25 } }, at).map((w) => [w.kind, w.at.x, w.at.width])).toEqual([['ep', 85, 25], ['tp', 72.5, 12.5]])
  expect(waitsIn({ ...pass, waits: { ep: 9, tp: 1 } }, at).map((w) => [w.kind, w.at.width])).toEqual([['ep', 100]])
  expect(waitsIn(pass, at)).toEqual([])
})

test('every problem with a code is said in Vietnamese, with figures of the language', () => {
  const source = readFileSync(new URL('../../internal/web/codes.go', import.meta.url), 'utf8')
  const faults = readFileSync(new URL('../../internal/note/faults.go', import.meta.url), 'utf8')
  const codes = [...(source + faults).matchAll(/ [cC]ode = "([a-z_]+)"/g)].map((m) => m[1]!)
  expect(codes.length).toBeGreaterThan(12)
  expect(Object.keys(viProblems).sort()).toEqual([...codes].sort())
  expect(Object.keys(enProblems).filter((k) => !codes.includes(k))).toEqual([]) // the others are worded by the server
  expect(viProblems.too_many_watchers!({ most: 1032, seconds: 2.5 }, formats('vi'))).toMatch(/1\.032 .*2,5\ss/)
})

test('every warning and assumption that the server can make is said in Vietnamese, without a figure missing', () => {
  const source = readFileSync(new URL('../../internal/note/codes.go', import.meta.url), 'utf8')
  const codes = [...source.matchAll(/ Code = "([a-z_]+)"/g)].map((m) => m[1]!)
  expect(codes.length).toBeGreaterThan(40)
  expect(Object.keys(viNotes).sort()).toEqual([...codes].sort())
  const f = formats('vi')
  expect(viNotes.batch_padded!({ batch: 15360, ranks: 2048, each: 7.5, rest: 1024, share: 8, less: 7, lower: 14336, upper: 16384 }, f)).toMatch(/^15\.360 chuỗi .*7,5\).*14\.336 hoặc 16\.384\.$/)
  expect(viNotes.narrow_memory!({ bytes: 1.5e9 }, f)).toMatch(/1,5\sGB/)
  expect(viNotes.queue_room!({ clients: 1200 }, f)).toMatch(/1\.200/)
  expect(viNotes.queue_room!({}, f)).not.toMatch(/undefined|NaN/)
})

test('every refusal that is worded without a code has its words in Vietnamese, and none is left over', () => {
  const phrases = JSON.parse(readFileSync(new URL('../src/i18n/phrases.vi.json', import.meta.url), 'utf8')) as Record<string, string>
  const made = new Set(['is not a number', 'is not a number with a unit', '--%s is missing: give it', '%q is not of type %s: /docs lists the fields', 'an amount of memory', 'a data rate', 'a time', 'a count', 'a price', 'a fraction', 'a rate of requests per second', 'an exponent of popularity', 'write none, mtp:N[:ACCEPT] or draft:MODEL:N:ACCEPT, for example mtp:1:0.87 or mtp:3:0.9/0.7/0.4'])
  const asked = ['api/infer.go', 'api/infer_ratio.go', 'api/infer_variants.go', 'api/train_more.go', 'api/train_question.go', 'advise/sweep.go', 'deploy/space.go', 'bench/maker.go', 'store/file.go', 'store/schema.go', 'store/store.go', 'workload/length.go', 'infer/spec.go', 'catalog/clusters.go'] // of what the page can ask
  for (const dir of ['plan', 'unit', 'ask', 'compare', ...asked])
    for (const file of dir.endsWith('.go') ? [''] : readdirSync(new URL(`../../internal/${dir}`, import.meta.url)).filter((x) => x.endsWith('.go') && !x.endsWith('_test.go'))) {
      const source = readFileSync(new URL(`../../internal/${dir}${file && '/' + file}`, import.meta.url), 'utf8')
      const made1 = dir === 'compare' ? /(?:c\.note\(|Part\{)("(?:[^"\\]|\\.)*")/g : /(?:Errorf|errors\.New|\.fail)\((?:\w+, )?("(?:[^"\\]|\\.)*")/g
      for (const [, text] of source.matchAll(made1)) {
        const format = JSON.parse(text!) as string
        if (!format.includes('%w') && !format.startsWith('cluster file ') && /[a-z]{2}/.test(format.replace(/%\w|--[a-z%-]+/g, ''))) made.add(format === 'has an unknown unit ' ? 'has an unknown unit %q' : format)
      }
    }
  const health = readFileSync(new URL('../../internal/bench/health.go', import.meta.url), 'utf8') // why a client is not valid
  for (const [, text] of health.matchAll(/\tsay\(("(?:[^"\\]|\\.)*")/g)) made.add(JSON.parse(text!) as string)
  expect(made.size).toBeGreaterThan(120)
  expect([...made].filter((x) => !phrases[x])).toEqual([])
  expect(Object.keys(phrases).filter((x) => !made.has(x))).toEqual([])
  for (const [format, said] of Object.entries(phrases)) {
    const values = format.match(/%(?:\.\d)?[a-z]/g)?.length ?? 0
    expect((said.match(/\{\d\}/g) ?? []).map((x) => Number(x[1])).sort(), format).toEqual(Array.from({ length: values }, (_, i) => i))
  }
})

test('refusals are found by their words, values kept, inside each other', () => {
  expect(inVietnamese('tp=3 does not divide the FFN width 14336 of layer 0 of llama-3.1-8b: use a divisor')).toBe('tp=3 không chia hết độ rộng FFN 14336 của lớp 0 trong llama-3.1-8b: hãy dùng một ước số.')
  expect(inVietnamese('tokens: "x" as a count is not a number with a unit: write for example 15360 or 14.8T (units: k K M)')).toBe('tokens: "x" (mong đợi số đếm) không phải số kèm đơn vị: hãy viết chẳng hạn 15360 (đơn vị: k K M).')
  expect(inVietnamese('net_rtt: "5" as a time has no unit: write for example 0.193ms (units: ns us)')).toContain('thiếu đơn vị')
  expect(inVietnamese('x: "5z" as a time has an unknown unit "z": write for example 0.193ms (units: ns us)')).toContain('có đơn vị lạ "z"')
  expect(inVietnamese('A, 1 in flight: client not valid: the client ran 25.7 ms late (p99), over a tenth of the median time of a request of 123 ms; 3.5 requests were in flight of 4')).toBe('A, 1 yêu cầu đồng thời: số đo của máy khách không hợp lệ: máy khách chạy muộn 25,7 ms (p99), hơn một phần mười thời gian trung vị của một yêu cầu là 123 ms; chỉ 3,5 yêu cầu đồng thời trên 4')
  expect(inVietnamese('top 0: give 1 to 1000')).toBe('top 0: hãy cho từ 1 đến 1000.')
  expect(inVietnamese('max_num_seqs 0: give more than 0, or leave it out')).toContain('lớn hơn 0')
  expect(inVietnamese('modell: unknown field "modell": did you mean model?')).toBe('modell: Không có trường "modell": có phải ý bạn là model?')
  expect(inVietnamese('heads do not divide by tp')).toBe('số đầu không chia hết cho tp')
  expect(nameInVietnamese('moe layer, mla x 58')).toBe('lớp MoE, mla × 58')
  expect(inVietnamese('a sentence of another package')).toBeUndefined()
})

test('no Vietnamese wording asks for a figure that the server does not send', () => {
  const files = readdirSync(new URL('../../internal', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((x) => x.endsWith('.go') && !x.endsWith('_test.go'))
  const sources = files.map((x) => readFileSync(new URL('../../internal/' + x, import.meta.url), 'utf8'))
  const wanting: string[] = []
  for (const [, name, code] of readFileSync(new URL('../../internal/note/codes.go', import.meta.url), 'utf8').matchAll(/(\w+) +Code = "([a-z_]+)"/g)) {
    const sent = new Set<string>()
    for (const s of sources) {
      const made = s.indexOf('note.' + name + ',')
      if (made < 0) continue
      for (const k of (/, "([a-z_ ]*)", "/.exec(s.slice(made))?.[1] ?? '').split(' ')) sent.add(k)
      for (const m of s.matchAll(/\.\s*With\("([a-z_]+)"/g)) sent.add(m[1]!)
    }
    viNotes[code!]!(new Proxy({ clients: 1 } as Record<string, unknown>, { get: (_, k) => (sent.has(String(k)) || wanting.push(`${code}: ${String(k)}`), 1) }), formats('vi'))
  }
  expect(wanting).toEqual([])
})

test('two runs side by side keep the loads that only one of them has', () => {
  const x = (name: string, value: number) => ({ name, value, unit: 's' })
  expect(beside([x('1', 1), x('8', 2)], [x('1', 3), x('4', 4)])).toEqual([
    { name: '1', unit: 's', a: 1, b: 3 },
    { name: '8', unit: 's', a: 2, b: null },
    { name: '4', unit: 's', a: null, b: 4 },
  ])
})

test('a machine is asked only for the figures that it has', () => {
  expect(knobsOf(16, 2)).toEqual(['net', 'up', 'hbm', 'batch'])
  expect(knobsOf(8, 1)).toEqual(['up', 'hbm', 'batch'])
  expect(knobsOf(1, 1)).toEqual(['hbm', 'batch'])
})

test('narrow passes are merged by their shares of the time', () => {
  // A thousand pairs of a forward of 1 and a backward of 2, half of which waits: 1 : 1 : 1 in every column.
  const passes = Array.from({ length: 1000 }, (_, i) => [
    { pass: 'F', microbatch: i, start: 3 * i, end: 3 * i + 1 },
    { pass: 'B', microbatch: i, start: 3 * i + 1, end: 3 * i + 3, waits: { tp: 1 } },
  ]).flat()
  const found = density(passes.map((p) => spentOf(p as Pass)), 0, 4000, 4)
  expect(Object.keys(found).sort()).toEqual(['pass-B', 'pass-F', 'wait-tp'])
  for (const list of Object.values(found)) {
    for (const v of list.slice(0, 3)) expect(v).toBeCloseTo(1 / 3, 2)
    expect(list[3]).toBe(0) // past the end is bubble
  }
})
