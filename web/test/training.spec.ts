import { readFileSync } from 'node:fs'
import { drop, expect, open, shot, slide, small, test } from './page'

test('loads, answers, and the first view is small and early', async ({ page }) => {
  const sizes = new Map<string, number>()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Network.enable')
  cdp.on('Network.loadingFinished', (e) => sizes.set(e.requestId, e.encodedDataLength))
  const assets = new Map<string, string>()
  cdp.on('Network.responseReceived', (e) => assets.set(e.requestId, e.response.url))
  await page.goto('/' + small)
  await expect(page.locator('#model')).toBeVisible()
  const usable = await page.evaluate(() => performance.getEntriesByType('paint').find((p) => p.name === 'first-contentful-paint')?.startTime ?? 0)
  await expect(page.locator('#verdict')).toBeVisible()
  const bytes = [...sizes].filter(([id]) => !assets.get(id)?.includes('/api/')).reduce((sum, [, n]) => sum + n, 0)
  test.info().annotations.push({ type: 'first view', description: `${bytes} bytes, first paint after ${Math.round(usable)} ms` })
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(300_000)
  await expect(page.locator('#verdict .sentence')).toContainText(/A step takes [\d.]+\sm?s/)
})

test('a chosen plan is shown, and the address brings it back', async ({ page, context }) => {
  await open(page, small)
  await page.locator('#plans tbody tr').nth(1).getByRole('button').click()
  await expect(page.locator('#plans tr[aria-current]')).toHaveCount(1)
  const second = await page.locator('#plans tbody tr').nth(1).locator('.plan').innerText()
  await page.locator('#batch').fill('512')
  await expect(page).toHaveURL(/batch=512/)
  const again = await context.newPage()
  await again.goto(page.url())
  await expect(again.locator('#batch')).toHaveValue('512')
  await expect(again.locator('#model')).toHaveValue('llama-3.1-8b')
  expect(decodeURIComponent(page.url())).toContain('pick=' + second.trim())
})

test('sliders price the plans anew and tell where the verdict flips', async ({ page }) => {
  await open(page, small)
  const verdict = page.locator('#walls-verdict')
  await expect(verdict).toHaveText('The walls stand as they were searched.')
  const before = await page.locator('#verdict .facts dd').first().innerText()
  await slide(page, 'wall-net', -4)
  await expect(verdict).toContainText(/The verdict on plan 1 flips from compute to network/)
  await expect(page.locator('#verdict .facts dd').first()).not.toHaveText(before)
  await expect(page).toHaveURL(/moved=net%3D0\.0625/)
  await expect(page.locator('#wall-net-flip')).toContainText(/Flips (below|above)/)
  await expect(page.locator('.flipmark').first()).toBeAttached()
  await shot(page, 'training-network-slow')
  await page.getByRole('button', { name: 'Back to the search' }).click()
  await expect(verdict).toHaveText('The walls stand as they were searched.')
  await slide(page, 'wall-batch', 0)
  await expect(verdict).toContainText(/per step|None of the listed plans/)
})

test('the roofline names each operation by keyboard', async ({ page }) => {
  await open(page, small)
  const marks = page.locator('#figure-roofline [role=listitem]')
  await page.locator('#figure-roofline [role=listitem][tabindex="0"]').focus()
  const first = await page.locator('#figure-roofline .tip text').first().textContent()
  await page.keyboard.press('ArrowRight')
  await expect(marks.nth(1)).toBeFocused()
  const second = await page.locator('#figure-roofline .tip').textContent()
  expect(second).toMatch(/FLOP\/B/)
  expect(second).not.toContain(first + '\u0000')
  await page.locator('#figure-timeline').getByRole('button', { name: 'start' }).click()
  await page.locator('#figure-timeline [role=listitem]').first().hover()
  await expect(page.locator('#figure-timeline .tip')).toBeVisible()
})

test('why not FSDP, in two sentences and the numbers', async ({ page }) => {
  await open(page, '#/training?model=llama-3.1-70b&cluster=h100x16&batch=256&precision=bf16')
  await expect(page.locator('#whynot')).toContainText('Why not plain FSDP?')
  const text = await page.locator('#whynot-answer .sentence').innerText()
  expect(text).toMatch(/GB/)
  await page.locator('#figure-links summary').click()
  await expect(page.locator('#figure-links tbody tr')).not.toHaveCount(0)
  expect(text.split(/\.\s/).length).toBe(2)
})

test('a config.json is dropped, and a broken one changes nothing', async ({ page }) => {
  await open(page, small)
  await drop(page, 'broken.json', '{"architectures": [')
  await expect(page.locator('.drop [role=alert]')).toContainText('broken.json is not JSON')
  await expect(page.locator('#model')).toHaveValue('llama-3.1-8b')
  await expect(page.locator('#verdict')).toBeVisible()
  await drop(page, 'odd.json', '{"architectures": ["NoSuchModel"], "hidden_size": 8}')
  await expect(page.locator('.drop [role=alert]')).toContainText(/NoSuchModel/)
  await expect(page.locator('#verdict')).toBeVisible()
  await shot(page, 'training-broken-config', false)
  await drop(page, 'config.json', readFileSync(new URL('fixtures/config.json', import.meta.url), 'utf8'))
  await expect(page.locator('.drop [role=status]')).toContainText('Understood')
  await expect(page).toHaveURL(/config=/)
  await page.getByRole('button', { name: 'Find plans' }).last().click()
  await expect(page.locator('.stale')).toHaveCount(0)
  await expect(page.locator('.waiting')).toHaveCount(0)
  const seen = await page.locator('#verdict .lead').innerText()
  await page.reload()
  await expect(page.locator('#verdict .lead')).toHaveText(seen)
})

test('a refused question names the field and keeps the answer', async ({ page }) => {
  await open(page, small)
  await page.locator('#cluster').fill('h1000x16')
  await page.locator('.go button').click()
  await expect(page.locator('.failed').first()).toContainText(/h1000/)
  await expect(page.locator('#cluster')).toHaveAttribute('aria-invalid', 'true')
  await expect(page.locator('#verdict')).toBeVisible()
  await shot(page, 'training-refused', false)
})

test('a long search shows its progress and can be cancelled', async ({ page }) => {
  await page.goto('/#/training?cluster=h100x16384&batch=61440&precision=bf16')
  await expect(page.locator('.waiting')).toBeVisible()
  await shot(page, 'training-searching', false)
  await page.locator('.go').getByRole('button', { name: 'Cancel' }).dispatchEvent('click')
  await expect(page.locator('.waiting')).toHaveCount(0)
  await expect(page.locator('.empty')).toBeVisible()
})

test('a search that the form cancels stays cancelled', async ({ page }) => {
  let asked = 0
  await page.route('**/api/v1/train', async (r) => {
    asked++
    await new Promise((ok) => setTimeout(ok, 4000)) // longer than a hand needs
    await r.abort().catch(() => undefined) // the page may have gone on
  })
  await page.goto('/' + small)
  await page.locator('.go').getByRole('button', { name: 'Cancel' }).click()
  await expect(page.locator('.go').getByRole('button', { name: 'Find plans' })).toBeVisible()
  await expect(page.locator('.waiting')).toHaveCount(0)
  expect(asked).toBe(1)
})

test('why not FSDP is answered while walls move, on ranks that the batch does not divide over, too', async ({ page }) => {
  await open(page, '#/training') // 15360 sequences, 2048 ranks
  const step = page.locator('#whynot-answer .facts dd').first()
  const before = await step.innerText()
  await slide(page, 'wall-net', -2)
  await expect(step).not.toHaveText(before)
})

test('a link holds what was searched and what was moved, and a search takes the walls over', async ({ page, context }) => {
  await open(page, small)
  await slide(page, 'wall-net', -4)
  await expect(page.locator('#verdict .lead')).toContainText('the best of the listed plans')
  await expect(page.locator('#walls-verdict:not([aria-busy])')).toContainText('flips from compute to network')
  const [lead, step] = [await page.locator('#verdict .lead').innerText(), (await page.locator('#verdict .facts dd').first().textContent())!]
  await expect(page.locator('#plans tr[aria-current] .badge')).toBeVisible() // pictures follow the lead
  await expect(page).toHaveURL(/moved=net%3D0\.0625/)
  const again = await context.newPage()
  await open(again, new URL(page.url()).hash)
  await expect(again.locator('#verdict .lead')).toHaveText(lead)
  await expect(again.locator('#verdict .facts dd').first()).toHaveText(step)
  await expect(again.locator('#wall-hbm-flip')).toContainText('as they were searched')
  await again.getByRole('button', { name: 'Search at these walls' }).click()
  await expect(again.locator('#verdict .lead')).toContainText('The best plan is')
  await expect(again).toHaveURL(/net=0\.0625/)
  expect(again.url()).not.toContain('moved')
})

test('precisions that the machine lacks cannot be chosen', async ({ page }) => {
  await open(page, small)
  await expect(page.locator('#precision option', { hasText: 'nvfp4' })).toBeDisabled()
  await expect(page.locator('#precision option', { hasText: /^fp8$/ })).toBeEnabled()
  const stop = page.locator('#wall-precision')
  const texts = new Set<string>()
  for (let i = 0; i <= Number(await stop.getAttribute('max')); i++) {
    await slide(page, 'wall-precision', i)
    texts.add((await stop.getAttribute('aria-valuetext'))!)
  }
  expect([...texts]).toEqual(['bf16', 'fp16', 'fp8', 'fp8-tensor'])
})

test('a damaged link and a batch of letters are told as such', async ({ page }) => {
  await page.goto('/' + small + '&config=abc')
  await expect(page.locator('.failed')).toContainText('The link is damaged')
  await page.goto('/#/training')
  await page.reload()
  await page.locator('#batch').fill('abc')
  await page.locator('.go button').click()
  await page.locator('.go').getByRole('button', { name: 'Find plans' }).click()
  await expect(page.locator('.failed')).toContainText('abc')
})

test('an old link with a precision that the machine lacks says so once, and keeps the answer', async ({ page }) => {
  await open(page, small + '&moved=precision%3Dnvfp4')
  await expect(page.locator('.failed')).toHaveCount(1)
  await expect(page.locator('#walls .failed')).toContainText('nvfp4')
  await expect(page.locator('#walls-verdict')).toContainText('stands as it was searched')
  await expect(page.locator('#verdict .lead')).toContainText('The best plan is')
  await expect(page.locator('#figure-roofline svg').first()).toBeVisible()
  await slide(page, 'wall-precision', 2)
  await expect(page.locator('#wall-precision')).toHaveAttribute('aria-valuetext', 'fp8')
  await expect(page.locator('.failed')).toHaveCount(0)
  await expect(page.locator('#walls-verdict')).toContainText('per step')
})

test('plain FSDP over a batch that does not divide has its timeline, also as walls move', async ({ page }) => {
  await open(page, small.replace('batch=256', 'batch=250') + '&plan=fsdp')
  await expect(page.locator('#figure-timeline .drawing svg').first()).toBeVisible()
  await expect(page.locator('#figure-memory .drawing svg').first()).toBeVisible()
  await slide(page, 'wall-net', -3)
  await expect(page.locator('#walls-verdict')).toContainText('per step')
  await expect(page.locator('.failed')).toHaveCount(0)
})

test('sliders answer while the hand still moves, and the address is not written at every step', async ({ page }) => {
  await open(page, small)
  const seen = await page.locator('#wall-net').evaluate(async (el: HTMLInputElement) => {
    const verdict = document.querySelector('#walls-verdict')!
    const texts = new Set<string>()
    let written = 0
    const own = history.replaceState.bind(history)
    history.replaceState = (...a) => (written++, own(...a))
    for (let i = 0; i < 60; i++) {
      el.value = String(-i / 20)
      el.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((ok) => setTimeout(ok, 16))
      texts.add(verdict.textContent ?? '')
    }
    return { texts: texts.size, written }
  })
  expect(seen.texts).toBeGreaterThan(5)
  expect(seen.written).toBeLessThan(30)
  await expect(page).toHaveURL(/net%3D0\.1/)
})

test('edited figures of the cluster are searched with', async ({ page }) => {
  await open(page, small + '&mem=40&nic=25')
  await expect(page.locator('#verdict .facts')).toContainText('of 37.6\u00a0GB usable')
  await expect(page.locator('.slider', { hasText: 'Network per GPU' })).toContainText('25\u00a0GB/s')
})

test('a server that went away is said to have gone, and asked again', async ({ page, clean }) => {
  await page.route('**/api/v1/train', (r) => r.abort())
  await page.goto('/' + small)
  await expect(page.locator('.failed')).toContainText('No answer from the server')
  await page.unroute('**/api/v1/train')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.locator('#verdict')).toBeVisible()
  clean.splice(0, clean.length, ...clean.filter((x) => !x.includes('ERR_FAILED')))
})

test('a server that wants its token is given it, and the address never holds it', async ({ page, clean }) => {
  await page.route('**/api/v1/train', async (r) => {
    if (r.request().headers().authorization === 'Bearer open sesame') await r.fallback()
    else await r.fulfill({ status: 401, contentType: 'application/problem+json', json: { title: 'Unauthorized', status: 401, detail: 'the token is missing' } })
  })
  await page.goto('/' + small)
  await page.getByLabel('This server asks for its token').fill('open sesame')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.locator('#verdict')).toBeVisible()
  expect(page.url()).not.toContain('sesame')
  clean.splice(0, clean.length, ...clean.filter((x) => !x.includes('status of 401')))
})

test('each question asked is a step of history, and an address pasted is asked', async ({ page }) => {
  await open(page, small)
  const seconds = page.locator('#verdict .facts dd').first()
  const first = (await seconds.textContent())!
  await page.locator('#batch').fill('512')
  await page.locator('.go button').click()
  await expect(seconds).not.toHaveText(first)
  await expect(page.locator('.stale')).toHaveCount(0)
  const second = (await seconds.textContent())!
  await page.goBack()
  await expect(page.locator('#batch')).toHaveValue('256')
  await expect(seconds).toHaveText(first)
  await page.goForward()
  await expect(seconds).toHaveText(second)
  await page.evaluate((to) => (location.hash = to), small) // as a link pasted into the tab
  await expect(seconds).toHaveText(first)
  await expect(page.locator('.stale')).toHaveCount(0)
})

test('an edited figure that is none is refused by the name of its field', async ({ page }) => {
  await open(page, small + '&net=0') // where no slider can stand: as if it had not moved
  await expect(page.locator('#walls')).toContainText('×1')
  await expect(page.locator('#walls')).not.toContainText('×0')
  await page.locator('.more summary').click()
  for (const [label, value] of [['Network per GPU', 'abc'], ['Device memory', '-1'], ['GPUs per node', '0']]) {
    await page.getByLabel(label!, { exact: true }).first().fill(value!)
    await page.locator('.go button').click()
    await expect(page.locator('.failed')).toContainText(`${label}: “${value}” is no figure above zero`)
    await page.getByLabel(label!, { exact: true }).first().fill('')
  }
})

test('a wrong access token is said, and asked for again', async ({ page }) => {
  await page.route('**/api/v1/**', (r) => r.fulfill({ status: 401, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'a token is needed', status: 401 }) }))
  await page.goto('/' + small)
  const asks = page.locator('form.failed').first()
  await expect(asks).toContainText('asks for its token')
  await expect(asks).not.toContainText('That is not the token')
  await asks.locator('input').fill('x')
  await asks.getByRole('button').click()
  await expect(asks).toContainText('That is not the token')
})

test.describe('Vietnamese', () => {
  test.use({ locale: 'vi-VN' })
  test('names the binding link in its own words and number format', async ({ page }) => {
    await open(page, small + '&moved=net%3D0.0625')
    await expect(page.locator('#verdict .facts')).toContainText(/giữa các nút, [\d,]+\sGB\/s mỗi GPU/)
    await expect(page.locator('#verdict')).not.toContainText('between nodes')
  })
})

test('waits of expert parallelism are drawn in the passes and named beneath', async ({ page }) => {
  await open(page, '#/training?model=mixtral-8x7b&cluster=h100x16&batch=256&precision=bf16&plan=ep%3D8')
  const timeline = page.locator('#figure-timeline')
  await timeline.getByRole('button', { name: 'start' }).click()
  const waits = timeline.locator('svg [role=listitem] [class="wait-ep"]') // not the shapes of thousands, which may be empty
  await expect(waits.first()).toBeVisible()
  expect(await waits.first().evaluate((el) => Number(el.getAttribute('width')))).toBeGreaterThan(1)
  await expect(timeline.locator('.legend [class="wait-ep"]')).toHaveCount(1)
  expect(await timeline.locator('.legend [class="wait-ep"]').evaluate((el) => getComputedStyle(el).fill)).toContain('#wait-ep')
  await timeline.screenshot({ path: 'screenshots/timeline-waits.png' })
  await page.emulateMedia({ colorScheme: 'dark' })
  await timeline.screenshot({ path: 'screenshots/timeline-waits-dark.png' })
  await page.setViewportSize({ width: 390, height: 844 })
  await timeline.screenshot({ path: 'screenshots/timeline-waits-phone.png' })
})

test('one node has no network to turn, and its other walls are swept without an error', async ({ page }) => {
  const asked: string[] = []
  page.on('response', (r) => r.url().endsWith('/train/sweep') && asked.push(`${String((r.request().postDataJSON() as { sweep: string }).sweep)} ${r.status()}`))
  await open(page, small.replace('h100x16', 'h100x8'))
  await expect.poll(() => asked).toEqual(['scale-up 200', 'hbm 200', 'batch 200'])
  await expect(page.locator('#walls .failed')).toHaveCount(0)
})

test('where no deployment fits there is no picture but of its memory', async ({ page }) => {
  await page.goto('/#/serving?model=deepseek-v3&clusters=h100x1')
  await expect(page.locator('#nothing')).toBeVisible({ timeout: 60_000 })
  await expect(page.locator('.figure:not(#figure-kv), #points')).toHaveCount(0)
})

test('a plan that cannot run at the moved walls says why, and names the plan that leads', async ({ page, clean }) => {
  await open(page, '#/training?model=deepseek-v3&cluster=h800x256&batch=15360')
  const first = page.locator('#plans tbody tr').first()
  await first.getByRole('button').click() // its pictures are wanted whatever leads
  await expect(page.locator('#figure-timeline .drawing svg')).toBeVisible()
  await slide(page, 'wall-batch', 0)
  await expect(page.locator('#impossible .sentence')).toContainText(/needs|does not divide/)
  await expect(page.locator('#figure-timeline, #figure-roofline, #figure-memory')).toHaveCount(0)
  await shot(page, 'training-impossible')
  await page.locator('#impossible').getByRole('button', { name: /Show plan \d, which leads now/ }).click()
  await expect(page.locator('#figure-timeline .drawing svg')).toBeVisible()
  await page.reload()
  await expect(page.locator('#figure-timeline .drawing svg')).toBeVisible({ timeout: 60_000 })
  await expect(page.locator('#figure-memory .drawing svg')).toBeVisible()
  await expect(page.locator('.failed')).toHaveCount(0)
  expect(clean).toEqual([])
})
