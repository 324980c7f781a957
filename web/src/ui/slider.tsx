interface Props {
  id: string
  label: string
  value: number
  min: number
  max: number
  step: number
  text: string // the value in words, with its unit
  flip?: { at: number; text: string } | 0 | undefined // where the verdict turns
  none?: string // said where no value turns it
  onInput: (v: number) => void
}

/** Slider is a range input with its value in words and a mark where the verdict flips. */
export function Slider(p: Props) {
  const share = p.flip ? (p.flip.at - p.min) / (p.max - p.min) : -1
  const seen = share >= 0 && share <= 1
  return (
    <div class="slider">
      <label for={p.id}>{p.label}</label>
      <output for={p.id} class="n">{p.text}</output>
      <div class="track">
        <input type="range" id={p.id} min={p.min} max={p.max} step={p.step} value={p.value} aria-valuetext={p.text} aria-describedby={p.flip || p.none ? p.id + '-flip' : undefined} onInput={(e) => p.onInput(Number(e.currentTarget.value))} />
        {seen && <i class="flipmark" ref={(el) => el?.style.setProperty('--at', String(share))} aria-hidden="true" />}
      </div>
      {(p.flip || p.none) && <p class="hint" id={p.id + '-flip'}>{p.flip ? p.flip.text : p.none}</p>}
    </div>
  )
}
