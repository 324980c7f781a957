// The whole state lives in the fragment of the address, which browsers never
// send: #/training?model=…&also=serving?model=… A key at its default is left out, an unknown key is
// ignored, so that old links keep working.

export const tabs = ['training', 'serving', 'measured'] as const
export type Tab = (typeof tabs)[number]

export const trainingDefaults = {
  model: 'deepseek-v3', // catalogue name
  config: '', // a dropped config.json, packed by pack()
  cluster: 'h800x2048',
  batch: '15360', // sequences per step
  seq: '4096', // tokens per sequence
  precision: 'fp8',
  plan: '', // keys that are fixed
  mtp: '0',
  tokens: '', // of the whole run
  price: '', // USD per GPU-hour
  net: '1', // factors on the machine's figures, peak and achieved alike: network,
  up: '1', // scale-up link,
  hbm: '1', // memory bandwidth
  moved: '', // what the sliders changed since: net=0.5,batch=512
  nic: '', // edited figures of the cluster; '' = the catalogue's. GB/s per GPU and direction
  mem: '', // GB of device memory
  nodeGpus: '', // GPUs that share the scale-up link
  pick: '', // chosen plan, as text; '' = the best
  why: '', // alternative of the why-not panel; '' = the first
}
export type Training = typeof trainingDefaults

/** sliders are the keys of the question that move without a search. */
export const sliders = ['net', 'up', 'hbm', 'batch', 'precision'] as const
type Moves = Partial<Pick<Training, (typeof sliders)[number]>>

const factors = ['net', 'up', 'hbm'] as const

/** possible tells whether a slider can stand at a value: factors are above zero, a batch is whole. */
function possible(key: (typeof sliders)[number], v: string): boolean {
  if (key === 'precision') return v !== ''
  const n = v.trim() === '' ? NaN : Number(v)
  return Number.isFinite(n) && n > 0 && (key !== 'batch' || Number.isInteger(n))
}

/** movesOf reads what the sliders changed; what is no move of theirs, or where none can stand, is ignored. */
export function movesOf(text: string): Moves {
  const out: Moves = {}
  for (const pair of text.split(',')) {
    const [k = '', v = ''] = pair.split('=', 2)
    const key = sliders.find((x) => x === k)
    if (key && possible(key, v)) out[key] = v
  }
  return out
}

/** movesText is what movesOf reads: the moves that differ from the question as it was searched. */
export const movesText = (m: Moves, asked: Training): string =>
  sliders.filter((k) => m[k] !== undefined && m[k] !== asked[k]).map((k) => `${k}=${m[k]}`).join(',')

export const servingDefaults = {
  model: 'deepseek-r1',
  config: '',
  clusters: 'h200x64',
  plan: '',
  over: '', // plans whose fronts are laid over it, separated by |
  isl: '1024',
  osl: '1024',
  concurrency: '1..1024',
  ttft: '2', // s
  tpot: '50', // ms
  spec: 'none,mtp:1:0.87',
  weights: '',
  kv: '',
  rtt: '', // list such as 0.2ms,1ms
  price: '2.5', // USD per GPU-hour, one for all or one per cluster
  engine: '',
}
export type Serving = typeof servingDefaults

export const measuredDefaults = {
  run: '',
  other: '',
  cluster: '', // what the service is predicted on; '' = no prediction is asked
  plan: '',
  model: '',
  isl: '',
  osl: '',
}
export type Measured = typeof measuredDefaults

export interface State {
  tab: Tab
  training: Training
  serving: Serving
  measured: Measured
}

const defaults = { training: trainingDefaults, serving: servingDefaults, measured: measuredDefaults }

/** parse reads what address() wrote: the question of its tab, and under `also` those of the other tabs. */
export function parse(hash: string): State {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2)
  const tab = isTab(path) ? path : 'training'
  const given = new URLSearchParams(query)
  const of: Partial<Record<string, URLSearchParams>> = { [tab]: given }
  for (const text of given.getAll('also')) {
    const [name = '', rest = ''] = text.split(/\?(.*)/s, 2)
    of[name] ??= new URLSearchParams(rest)
  }
  const fill = <T extends Record<string, string>>(name: Tab, d: T): T => {
    const out: Record<string, string> = { ...d }
    for (const k of Object.keys(d)) if (of[name]?.has(k)) out[k] = of[name].get(k)!
    return out as T
  }
  const training = fill('training', trainingDefaults)
  for (const k of factors) if (!possible(k, training[k])) training[k] = trainingDefaults[k]
  return {
    tab,
    training,
    serving: fill('serving', servingDefaults),
    measured: fill('measured', measuredDefaults),
  }
}

const isTab = (x: string): x is Tab => (tabs as readonly string[]).includes(x)

/** part is one tab's question as a query: what stands at its default is left out. */
function part(s: State, tab: Tab): URLSearchParams {
  const d: Record<string, string> = defaults[tab]
  const v: Record<string, string> = s[tab]
  return new URLSearchParams(Object.keys(d).filter((k) => v[k] !== d[k]).map((k) => [k, v[k]!]))
}

const written = (tab: Tab, q: URLSearchParams): string => `${tab}${q.size ? '?' + q.toString() : ''}`

/** address of the state: the fragment that parse() reads back. */
export function address(s: State): string {
  const q = part(s, s.tab)
  for (const other of tabs) {
    const its = part(s, other)
    if (other !== s.tab && its.size) q.append('also', written(other, its))
  }
  return '#/' + written(s.tab, q)
}

/** questionOf is what a search of the tab depends on: moved sliders and what is looked at are left out, and the other tabs. */
export const questionOf = (s: State): string => written(s.tab, part({ ...s, training: { ...s.training, moved: '', pick: '', why: '' } }, s.tab))
