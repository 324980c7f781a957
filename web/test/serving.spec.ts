import { readFileSync } from 'node:fs'
import { expect, open, shot, test } from './page'

test('round trips are told apart: in the verdict, the table, the curves and the ratio', async ({ page }) => {
  await open(page, '#/serving?model=llama-3.1-8b&clusters=h100x16&concurrency=1%2C64&plan=tp%3D16&rtt=0.2ms%2C5ms&spec=none')
  await expect(page.locator('#verdict')).toContainText('Round trip between nodes')
  await expect(page.locator('#points').getByRole('columnheader', { name: 'Round trip' })).toBeVisible()
  await expect(page.locator('#points tbody')).toContainText('200 µs')
  await expect(page.locator('#points tbody')).toContainText('5 ms')
  const curves = page.locator('#curves')
  await expect(curves.locator('.legend li')).toHaveText(['none, rtt 200 µs', 'none, rtt 5 ms'])
  await curves.locator('#figure-tpot summary').click()
  await expect(curves.locator('#figure-tpot tbody tr')).toHaveCount(2)
  await expect(curves.locator('#figure-tpot thead th')).toHaveCount(3)
  await expect(page.locator('#ratio')).toBeVisible()
  await expect(page.locator('#ratio')).not.toContainText('one deployment')
  await shot(page, 'serving-round-trips')
})

test('a file of numbers says what it holds', async ({ page }) => {
  await open(page, '#/serving?model=llama-3.1-8b&clusters=h100x8&concurrency=1%2C8&plan=tp%3D8&spec=none&price=2')
  await expect(page.locator('#verdict')).toContainText('per million output tokens; 2 USD/GPU·h')
  const file = async (name: string): Promise<string> => {
    const [d] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV: ' + name }).click()])
    return readFileSync((await d.path())!, 'utf8')
  }
  expect(await file('TTFT against load')).toMatch(/^requests in flight,TTFT \(s\): none\r\n/)
  expect(await file('Output against load')).toMatch(/^requests in flight,output tokens\/s per GPU: none\r\n/)
  expect(await file('Pareto front')).toContain('USD per million output tokens')
  const points = await file('Best deployment at each load')
  expect(points).toContain('memory bandwidth')
  expect(points).not.toMatch(/,(true|hbm)\b/)
  expect(await file('One thing changed')).toMatch(/^[^\r]*\(%\)"\r\n/)
})

test('an engine that is none of the known ones is in the menu and told as assumed', async ({ page }) => {
  await open(page, '#/serving?model=llama-3.1-8b&clusters=h100x8&concurrency=8&plan=tp%3D8&spec=none&engine=other')
  const menu = page.getByLabel('Engine', { exact: true })
  await expect(menu).toHaveValue('other')
  await expect(menu.locator('option:checked')).toHaveText('none of these')
  await expect(page.locator('main')).toContainText('no run of it is known')
})

test.describe('in Vietnamese', () => {
  test.use({ locale: 'vi-VN' })
  test('a price with a decimal comma is no list of prices', async ({ page }) => {
    await page.goto('/#/serving?model=llama-3.1-8b&clusters=h100x8%2Ch200x8&concurrency=8&plan=tp%3D8&spec=none&price=2%2C5')
    await expect(page.locator('.failed')).toContainText('Giá: “2,5” có thể hiểu theo nhiều cách. Hãy viết 2; 5 hoặc 2.5.')
  })
  test('a dot between thousands is no decimal point', async ({ page }) => {
    await page.goto('/#/training?model=llama-3.1-8b&cluster=h100x16&batch=2.000&precision=bf16')
    await expect(page.locator('.failed')).toContainText('Batch toàn cục: “2.000” có thể hiểu theo nhiều cách. Hãy viết 2000 hoặc 2.')
  })
})

test('a deployment’s figures come with their ranges, and its start apart', async ({ page }) => {
  await open(page, '#/serving?model=llama-3.1-8b&clusters=h100x1&concurrency=64&plan=tp%3D1&spec=none')
  const verdict = page.locator('#verdict')
  await expect(verdict.locator('.facts div', { hasText: 'TPOT' })).toContainText(/≤ 50\sms; four in five measured: [\d.]+\sms to [\d.]+\sms/)
  await expect(verdict).toContainText('the first round, sent all at once, waits')
})

test('what needs less memory with its optimizer states on the host is the nearest plan', async ({ page }) => {
  await page.goto('/#/training?model=llama-3.1-405b&cluster=h100x8&batch=16&precision=bf16')
  await expect(page.locator('#verdict')).toContainText('offload=optimizer', { timeout: 60_000 })
  await expect(page.locator('#verdict')).toContainText('308.4 GB')
  await expect(page.locator('#verdict')).toContainText('four in five measured:')
})

test('where nothing fits, the nearest deployment is drawn against the limit', async ({ page }) => {
  await page.goto('/#/serving?model=llama-3.1-405b&clusters=h100x8&spec=none&concurrency=8')
  const kv = page.locator('#nothing #figure-kv')
  await expect(kv).toContainText(/It needs [\d.]+\sGB per GPU where [\d.]+\sGB are usable/)
  await expect(kv.locator('.drawing .limit')).toContainText('usable')
})
