interface Props {
  id: string
  label: string
  value: number
  min: number
  max: number
  step: number
  text: string // the value in words, with its unit
  marks?: number[] // where the verdict turns, in the slider's own scale
  faded?: boolean // the marks hold for other settings than today's
  hints?: string[] // what turns there
  onInput: (v: number) => void
}

/** Slider is a range input with its value in words and marks where the verdict flips. */
export function Slider(p: Props) {
  const shares = (p.marks ?? []).map((m) => (m - p.min) / (p.max - p.min)).filter((x) => x >= 0 && x <= 1)
  const hints = p.hints ?? []
  return (
    <div class="slider">
      <label for={p.id}>{p.label}</label>
      <output for={p.id} class="n">{p.text}</output>
      <div class="track">
        <input
          type="range"
          id={p.id}
          min={p.min}
          max={p.max}
          step={p.step}
          value={p.value}
          aria-valuetext={p.text}
          aria-describedby={hints.length ? p.id + '-flip' : undefined}
          onInput={(e) => p.onInput(Number(e.currentTarget.value))}
        />
        {shares.map((x, i) => (
          <i key={i} class={'flipmark' + (p.faded ? ' faded' : '')} ref={(el) => el?.style.setProperty('--at', String(x))} aria-hidden="true" />
        ))}
      </div>
      {hints.length > 0 && (
        <div class="hint" id={p.id + '-flip'}>
          {hints.map((h) => <p key={h}>{h}</p>)}
        </div>
      )}
    </div>
  )
}
