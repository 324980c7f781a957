// A picture leaves the page as it is seen: styles of classes become attributes,
// so that the file stands alone; PNG is drawn from it at twice the size.

const kept = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'font-size', 'font-family', 'font-weight', 'paint-order', 'stroke-linejoin', 'text-anchor', 'dominant-baseline']

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
  ground.setAttribute('fill', getComputedStyle(document.documentElement).getPropertyValue('--paper').trim() || '#fff')
  copy.prepend(ground)
  return copy
}

export const svgText = (svg: SVGSVGElement): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(standalone(svg))

export async function pngBlob(svg: SVGSVGElement): Promise<Blob> {
  const box = svg.viewBox.baseVal
  const url = URL.createObjectURL(new Blob([svgText(svg)], { type: 'image/svg+xml' }))
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
