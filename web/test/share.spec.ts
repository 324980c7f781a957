import { readFileSync } from 'node:fs'
import { expect, open, serving, shot, small, test, violations } from './page'

async function saved(page: import('@playwright/test').Page, press: () => Promise<void>): Promise<{ name: string; text: string; bytes: Buffer }> {
  const [d] = await Promise.all([page.waitForEvent('download'), press()])
  const bytes = readFileSync((await d.path())!)
  return { name: d.suggestedFilename(), text: bytes.toString('utf8'), bytes }
}

/** bright is a colour's mean of red, green and blue. */
const bright = (colour: string): number => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).reduce((sum, x) => sum + Number(x) / 3, 0)

test('pictures leave as SVG and PNG, tables as CSV, the answer as one HTML file', async ({ page, browser }) => {
  await open(page, small)
  const svg = await saved(page, () => page.getByRole('button', { name: 'SVG: Roofline' }).click())
  expect(svg.name).toBe('roofline.svg')
  expect(svg.text).toMatch(/<svg[^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  expect(svg.text).not.toMatch(/class=|var\(--|light-dark/)
  expect(svg.text).toMatch(/<rect[^>]* fill="rgb\(255, 255, 255\)"/) // the ground
  for (const x of ['Roofline', 'llama-3.1-8b', 'h100x16', 'forward']) expect(svg.text).toContain(x)
  const png = await saved(page, () => page.getByRole('button', { name: 'PNG: Memory per stage' }).click())
  expect([...png.bytes.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47])
  expect(png.bytes.length).toBeGreaterThan(5000)
  const csv = await saved(page, () => page.getByRole('button', { name: 'CSV: Plans, ranked' }).click())
  expect(csv.text.split('\r\n').length).toBeGreaterThan(3)
  expect(csv.text).toContain('Plan')
  const report = await saved(page, () => page.locator('#report').click())
  expect(report.text).toContain('llama-3.1-8b, h100x16, Global batch 256, Sequence length 4096, bf16')
  expect(report.text).not.toMatch(/<script|<link|src="http/)
  const alone = await (await browser.newContext({ offline: true })).newPage()
  await alone.setContent(report.text)
  await expect(alone.locator('h2').first()).toHaveText('Verdict')
  for (const colorScheme of ['light', 'dark'] as const) { // whatever the page looked like when it was saved
    await alone.emulateMedia({ colorScheme })
    const [text, ground] = await alone.locator('#figure-roofline .axes text').first().evaluate((el) => [getComputedStyle(el).fill, getComputedStyle(el.closest('.card')!).backgroundColor])
    expect(Math.abs(bright(text!) - bright(ground!))).toBeGreaterThan(90)
    expect(await violations(alone)).toEqual([])
  }
  expect(await alone.locator('.drawing svg').count()).toBeGreaterThan(3)
  await shot(alone, 'report')
  for (const width of [1280, 390]) {
    await alone.setViewportSize({ width, height: 900 })
    const letters = await alone.locator('.drawing > svg').evaluateAll((all) =>
      (all as SVGSVGElement[]).flatMap((svg) => [...svg.querySelectorAll('text')].map((x) => (parseFloat(getComputedStyle(x).fontSize) * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width)),
    )
    expect(Math.min(...letters)).toBeGreaterThan(10.9)
    expect(await alone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  }
  expect(await violations(alone)).toEqual([])
  await shot(alone, 'report-phone')
})

test('verdict and report state tokens, price and edited figures; the other tab keeps its question', async ({ page }) => {
  await open(page, small + '&tokens=1T&price=2&nic=25&mem=40')
  const verdict = page.locator('#verdict')
  await expect(verdict).toContainText('1T tokens')
  await expect(verdict).toContainText('2 USD/GPU·h')
  await expect(verdict).toContainText('In place of the catalogue’s figures: Network per GPU 25 GB/s, Device memory 40 GB.')
  const report = await saved(page, () => page.locator('#report').click())
  expect(report.text).toContain('bf16, Network per GPU 25 GB/s, Device memory 40 GB, Tokens of the run 1T, Price 2 USD/GPU·h')
  await page.getByRole('link', { name: 'Serving' }).click()
  await page.reload()
  await page.getByRole('link', { name: 'Training' }).click()
  await expect(page.locator('#batch')).toHaveValue('256')
  await expect(verdict).toContainText('1T tokens', { timeout: 60_000 })
})

test('serving: curves, fronts and the map of ratios', async ({ page }) => {
  await open(page, serving)
  await expect(page.locator('#figure-pareto [role=listitem]').first()).toBeAttached()
  await expect(page.locator('#figure-pareto .legend')).toContainText('h200x8')
  const alone = await page.request.post('/api/v1/infer', { data: { model: 'llama-3.1-8b', cluster: 'h100x8', isl: 1024, osl: 1024, concurrency: '1..64', spec: 'none', slo: 'ttft=2s,tpot=20ms' } })
  const fastest = Math.max(...(await alone.json()).pareto.map((p: { tokens_per_second_per_user: number }) => p.tokens_per_second_per_user))
  await page.locator('#figure-pareto summary').click()
  const rows = await page.locator('#figure-pareto tbody tr').filter({ hasText: 'h100x8' }).locator('td:nth-child(5)').allInnerTexts()
  expect(Math.max(...rows.map((x) => Number(x.replace(/,/g, '')))) / fastest).toBeCloseTo(1, 2) // a variant is not cut by the other's front
  await expect(page.locator('#figure-throughput [role=listitem]').first()).toBeAttached()
  await expect(page.locator('#figure-kv')).toContainText('tokens')
  await expect(page.locator('#ratio')).toBeVisible()
  await shot(page, 'serving')
  await page.locator('#tpot').fill('0.001')
  await page.locator('.go button').click()
  await expect(page.locator('#verdict .lead')).toContainText('No deployment keeps the objective')
})

test('serving: fronts of other plans are laid over the best, and the address keeps them', async ({ page }) => {
  await open(page, '#/serving?model=llama-3.1-8b&clusters=h100x8&spec=none&concurrency=1..64&tpot=20&over=tp%3D8%7Ctp%3D1%2Creplicas%3D8')
  const legend = page.locator('#figure-pareto .legend')
  await expect(legend).toContainText('tp=8: h100x8')
  await expect(legend).toContainText('tp=1,replicas=8: h100x8')
  await expect(page.locator('#figure-pareto path.line')).toHaveCount(3)
  await page.locator('#figure-pareto summary').click()
  await expect(page.locator('#figure-pareto tbody tr').filter({ hasText: 'tp=8: ' }).first()).toBeVisible()
  await page.goto('/#/serving?model=llama-3.1-8b&clusters=h100x8&spec=none&concurrency=1..64&tpot=20&over=tp%3D3')
  await page.reload()
  await expect(page.locator('#pareto .failed')).toContainText('tp')
  await expect(page.locator('#figure-pareto path.line')).toHaveCount(1)
})

test('the plan at each load is in sight, and what is the same everywhere is said once', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 900 })
  await open(page, serving)
  const heads = page.locator('#points th')
  await expect(heads.nth(1)).toHaveText('Plan')
  const box = (await page.locator('#points .scroll').boundingBox())!
  const plan = (await page.locator('#points tbody tr').first().locator('.plan').boundingBox())!
  expect(plan.x + plan.width).toBeLessThanOrEqual(box.x + box.width)
  await expect(page.locator('#points .note')).toContainText('The same in every row:')
  const shown = await heads.count()
  const csv = await saved(page, () => page.getByRole('button', { name: 'CSV: Best deployment at each load' }).click())
  expect(csv.text.split('\r\n')[0]!.split(',').length).toBeGreaterThan(shown)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.locator('#points .scroll').evaluate((el) => el.scrollWidth > el.clientWidth && getComputedStyle(el).backgroundAttachment)).toContain('local')
})
