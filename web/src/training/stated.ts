import type { Dict } from '../i18n'
import type { Training } from '../state'

/** editsOf names the figures of the cluster that the question states in place of the catalogue's. */
export const editsOf = (s: Training, t: Dict): string[] =>
  ([[t.ask.nic, s.nic, 'GB/s'], [t.ask.memory, s.mem, 'GB'], [t.ask.nodeGpus, s.nodeGpus, 'GPU']] as const).filter(([, v]) => v !== '').map(([name, v, unit]) => `${name} ${v} ${unit}`)

/** runOf names the tokens of the whole run and the price of a GPU-hour, as the question states them. */
export const runOf = (s: Training, t: Dict): string[] => [
  ...(s.tokens.trim() ? [`${t.ask.tokens} ${s.tokens.trim()}`] : []),
  ...(s.price.trim() ? [`${t.ask.price} ${s.price.trim()} USD/GPU·h`] : []),
]
