// A picture leaves the page as it is seen: styles of classes become attributes,
// so that the file stands alone; PNG is drawn from it at twice the size.

const kept = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'font-size', 'font-family', 'font-weight', 'paint-order', 'stroke-linejoin', 'text-anchor', 'dominant-baseline']

/** colour of the page by its name, as the theme of the moment has it. */
const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function standalone(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const from = [svg, ...svg.querySelectorAll<SVGElement>('*')]
  const to = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  from.forEach((el, i) => {
    const style = getComputedStyle(el)
    const target = to[i]!
    for (const p of kept) {
      const v = style.getPropertyValue(p)
      if (v) target.setAttribute(p, v)
    }
    target.removeAttribute('class')
    target.removeAttribute('style')
    target.removeAttribute('tabindex')
  })
  for (const el of copy.querySelectorAll('[data-screen]')) el.remove()
  const box = svg.viewBox.baseVal
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', String(box.width))
  copy.setAttribute('height', String(box.height))
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  ground.setAttribute('width', '100%')
  ground.setAttribute('height', '100%')
  ground.setAttribute('fill', colour('--paper'))
  copy.prepend(ground)
  return copy
}

/** Heading is what stands over a picture that leaves the page: its title, what it is of, and its legend. */
export interface Heading {
  title: string
  subject: string
  keys: { name: string; fill: string }[]
}

const row = 18 // px of a line of the heading
const letter = 6.6 // px, about, of a letter at 12 px

/** titled is a picture that stands alone, under its heading. */
function titled(svg: SVGSVGElement, h: Heading): SVGSVGElement {
  const copy = standalone(svg)
  const { width, height } = svg.viewBox.baseVal
  const made: SVGElement[] = []
  const add = (name: string, at: Record<string, string | number>, text = '') => {
    const el = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [k, v] of Object.entries(at)) el.setAttribute(k, String(v))
    el.textContent = text
    made.push(el)
  }
  const write = (x: number, y: number, text: string, weight = 400) =>
    add('text', { x, y, fill: colour('--ink'), 'font-size': 12, 'font-weight': weight, 'font-family': getComputedStyle(svg).fontFamily }, text)
  let y = 0
  for (const line of wrapped(h.title, width / letter)) write(8, (y += row), line, 600)
  for (const line of wrapped(h.subject, width / letter)) write(8, (y += row), line)
  let x = 8
  if (h.keys.length) y += row
  for (const k of h.keys) {
    const needs = 28 + k.name.length * letter
    if (x > 8 && x + needs > width) [x, y] = [8, y + row]
    add('rect', { x, y: y - 10, width: 10, height: 10, rx: 2, fill: k.fill })
    write(x + 15, y, k.name)
    x += needs
  }
  const top = y + 8
  copy.setAttribute('viewBox', `0 ${-top} ${width} ${height + top}`)
  copy.setAttribute('height', String(height + top))
  copy.firstElementChild!.setAttribute('y', String(-top)) // the ground
  for (const el of made) el.setAttribute('y', String(Number(el.getAttribute('y')) - top))
  copy.append(...made)
  return copy
}

/** wrapped breaks a line after a space or a comma. */
function wrapped(text: string, most: number): string[] {
  const out: string[] = []
  for (const part of text.match(/[^ ,]*[ ,]*/g) ?? []) {
    const last = out.at(-1)
    if (last === undefined || last.length + part.trimEnd().length > most) out.push(part)
    else out[out.length - 1] = last + part
  }
  return out.map((l) => l.trimEnd()).filter((l) => l)
}

export const svgText = (svg: SVGSVGElement, h: Heading): string => asText(titled(svg, h))

const asText = (svg: SVGSVGElement): string => '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg)

export async function pngBlob(svg: SVGSVGElement, h: Heading): Promise<Blob> {
  const picture = titled(svg, h)
  const box = picture.viewBox.baseVal
  const url = URL.createObjectURL(new Blob([asText(picture)], { type: 'image/svg+xml' }))
  try {
    const img = new Image()
    img.src = url
    await img.decode()
    const canvas = document.createElement('canvas')
    canvas.width = box.width * 2
    canvas.height = box.height * 2
    canvas.getContext('2d')!.drawImage(img, 0, 0, canvas.width, canvas.height)
    return await new Promise((ok, no) => canvas.toBlob((b) => (b ? ok(b) : no(new Error('no picture'))), 'image/png'))
  } finally {
    URL.revokeObjectURL(url)
  }
}

export function download(name: string, what: Blob | string, type = 'text/plain'): void {
  const url = URL.createObjectURL(typeof what === 'string' ? new Blob([what], { type: type + ';charset=utf-8' }) : what)
  const a = document.createElement('a')
  a.href = url
  a.download = name
  a.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** csv quotes as RFC 4180 asks; a leading formula character of a spreadsheet is text. */
export function csv(head: string[], rows: (string | number | null | undefined)[][]): string {
  const cell = (v: string | number | null | undefined) => {
    let s = v == null ? '' : String(v)
    if (typeof v === 'string' && /^[=+@\t\r]/.test(s)) s = "'" + s
    return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s
  }
  return [head, ...rows].map((r) => r.map(cell).join(',')).join('\r\n') + '\r\n'
}
