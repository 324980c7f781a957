import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { drop, expect, shot, test } from './page'

// One bench at a time: what one test runs, the page of another would follow.
test.describe.configure({ mode: 'default' })

const fixture = (name: string): string => readFileSync(new URL('fixtures/' + name, import.meta.url), 'utf8')

test('two runs are compared, and one is held against its prediction', async ({ page }) => {
  await page.goto('/#/measured')
  await drop(page, 'notes.txt', 'not a document')
  await expect(page.locator('#runs [role=alert]')).toContainText('notes.txt is not JSON')
  await drop(page, 'other.json', '{"a": 1}')
  await expect(page.locator('#runs [role=alert]')).toContainText('other.json is no document of')
  await drop(page, 'a100.json', fixture('bench-a100.json'))
  await drop(page, 'h100.json', fixture('bench-h100.json'))
  await expect(page.locator('#runs tbody tr')).toHaveCount(2)
  await page.locator('#other').selectOption({ index: 1 })
  const row = page.locator('#figures tr', { hasText: 'TPOT p5016 requests in flight' })
  await expect(row).toContainText('ms')
  await expect(row.locator('td').last()).toHaveText(/^\+\d/) // the A100 is slower
  await page.locator('#predict').getByLabel('Clusters').or(page.locator('#predict').getByLabel('Cluster')).fill('h100x1')
  await page.locator('#predict').getByLabel('Plan').fill('tp=1')
  await page.getByRole('button', { name: 'Predict this service' }).click()
  await expect(page.locator('#predict .sentence')).toContainText('The widest gap is at')
  await expect(page.locator('#figure-beside-tpot svg [role=listitem]')).toHaveCount(6)
  await shot(page, 'measured-bench')
  await expect(page).toHaveURL(/cluster=h100x1&plan=tp%3D1/)
})

test('documents that the address names and that are not here are asked for again, and so is a run that is not kept', async ({ page }) => {
  await page.goto('/#/measured')
  for (const name of ['bench-a100.json', 'bench-h100.json']) await drop(page, name, fixture(name))
  await page.locator('#other').selectOption({ index: 1 })
  await expect(page.locator('#figures tbody tr').first()).toBeVisible()
  await page.reload()
  const told = page.locator('#runs .absent')
  await expect(told).toContainText('“bench-h100.json”, “bench-a100.json”')
  await shot(page, 'measured-absent')
  await drop(page, 'bench-a100.json', fixture('bench-a100.json'))
  await expect(told).toContainText('“bench-h100.json”.')
  await drop(page, 'bench-h100.json', fixture('bench-h100.json'))
  await expect(told).toHaveCount(0)
  await expect(page.locator('#other')).toHaveValue('file:bench-a100.json')
  await page.reload()
  await told.getByRole('button').click()
  await expect(told).toHaveCount(0)
  await expect(page).toHaveURL(/#\/measured$/)
  await page.goto('/#/measured?run=nowhere')
  await expect(page.locator('#runs [role=alert]')).toContainText('No run is kept here as “nowhere”')
})

test('a client that was not valid is told of, and the prediction beside a run is in the address', async ({ page }) => {
  const doc = JSON.parse(fixture('bench-h100.json')) as { stages: { client?: unknown }[] }
  doc.stages[0]!.client = { valid: false, reasons: ['the client ran 13.9 ms late (p99), over a tenth of the median time of a request of 51 ms'] }
  await page.route('**/api/v1/runs', async (r) => r.fulfill({ json: { runs: [{ id: '7', kind: 'bench', title: 'kept', started: '2026-01-01T00:00:00Z' }], services: [] } }))
  await page.route('**/api/v1/runs/7', async (r) => r.fulfill({ json: { id: '7', kind: 'bench', title: 'kept', started: '2026-01-01T00:00:00Z', document: doc } }))
  await page.goto('/#/measured?run=7')
  await expect(page.locator('#figures .invalid')).toContainText('This run: the client could not keep up')
  const notes = page.locator('#figures details.notes')
  await notes.locator('summary').click()
  await expect(notes).toContainText('client not valid: the client ran 13.9 ms late')
  await page.locator('#predict').getByLabel('Cluster').fill('h100x1')
  await page.locator('#predict').getByLabel('Plan').fill('tp=1')
  await page.getByRole('button', { name: 'Predict this service' }).click()
  await expect(page.locator('#predict .sentence')).toContainText('The widest gap is at')
  await expect(page.locator('#predict .invalid')).toBeVisible()
  await page.reload()
  await expect(page.locator('#predict .sentence')).toContainText('The widest gap is at')
  await expect(page.locator('#predict').getByLabel('Plan')).toHaveValue('tp=1')
})

test('a validation shows predictions beside measurements and where the gap is', async ({ page }) => {
  await page.goto('/#/measured')
  await drop(page, 'training.json', fixture('validate-training.json'))
  await expect(page.locator('#figure-predicted-measured [role=listitem]').first()).toBeAttached()
  await expect(page.locator('#figure-gap-groups')).toContainText('Where the gap is')
  await shot(page, 'measured-validate')
})

test('a service is measured, live on another page too', async ({ page, context }) => {
  await page.goto('/#/measured')
  const form = page.locator('#measure')
  await form.getByLabel('Model').fill('llama-3.1-8b')
  await form.getByLabel('Output per request').fill('64')
  await form.getByLabel('Requests per stage').fill('36')  // long enough that another page opens meanwhile, on a machine that others load, too
  await form.getByRole('button', { name: 'Start' }).click()
  await expect(form.locator('.facts')).toContainText('in flight')
  const watcher = await context.newPage()
  await watcher.goto('/#/measured')
  await expect(watcher.locator('#live')).toContainText('A bench is running')
  await shot(watcher, 'measured-live', false)
  await expect(page.locator('#figures')).toContainText('TPOT p5016 requests in flight', { timeout: 90_000 })
  await expect(watcher.locator('#live')).toHaveCount(0)
  await form.getByLabel('Model').fill('no-such-model')
  await form.getByRole('button', { name: 'Start' }).click()
  await expect(form.locator('[role=alert]')).toContainText(/no-such-model/)
  await expect(page.locator('#figures')).toBeVisible()
})

test('a bench that is cancelled ends, and is not started again', async ({ page }) => {
  let asked = 0
  page.on('request', (r) => r.method() === 'POST' && r.url().endsWith('/bench') && asked++)
  await page.goto('/#/measured')
  const form = page.locator('#measure')
  await form.getByLabel('Model').fill('llama-3.1-8b')
  await form.getByLabel('Requests per stage').fill('2k')
  await form.getByRole('button', { name: 'Start' }).click()
  await expect(form.locator('.facts')).toContainText('in flight')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await expect(form.getByRole('button', { name: 'Start' })).toBeVisible()
  await expect.poll(async () => (await page.request.get('/api/v1/runs/live')).status(), { timeout: 30_000 }).toBe(204) // the load has ended
  await expect(form.getByRole('button', { name: 'Start' })).toBeVisible()
  await expect(form.locator('[role=alert]')).toHaveCount(0)
  expect(asked).toBe(1)
})

test('a bench is not started with a number that languages read differently', async ({ page }) => {
  await page.goto('/#/measured')
  const form = page.locator('#measure')
  await form.getByLabel('Model').fill('llama-3.1-8b')
  await form.getByLabel('Requests per stage').fill('2.000')
  await form.getByRole('button', { name: 'Start' }).click()
  await expect(form.locator('[role=alert]')).toContainText('2000')
  await expect(form.getByLabel('Requests per stage')).toHaveAttribute('aria-invalid', 'true')
  await form.getByLabel('Requests per stage').fill('abc')
  await form.getByRole('button', { name: 'Start' }).click()
  await expect(form.locator('[role=alert]')).toContainText('Requests per stage: "abc"')
})

test.describe('a bench in a terminal', () => {
  test.describe.configure({ mode: 'serial' })
  const port = Number(process.env.RIDGELINE_PORT ?? 8931) + 1
  const bench = (model: string) =>
    spawn(process.env.RIDGELINE ?? '../bin/ridgeline', ['bench', '--url', `http://127.0.0.1:${port}/v1`, '--model', model, '--isl', '64', '--osl', '32', '--concurrency', '2', '--duration', '8s', '--no-check'], {
      env: { ...process.env, XDG_DATA_HOME: process.env.RIDGELINE_TEST_HOME, OPENAI_API_KEY: 'sk-never-shown' },
      stdio: 'ignore',
    })

  test('is followed on the page, and its run is listed as it ends', async ({ page }) => {
    await page.goto('/#/measured')
    await expect(page.locator('#runs')).toBeVisible()
    const run = bench('llama-3.1-8b')
    const live = page.locator('#live')
    await expect(live).toContainText(`A bench of llama-3.1-8b at http://127.0.0.1:${port}/v1 is running in a terminal`)
    await expect(live.locator('svg')).toBeVisible() // more than one line came
    await shot(page, 'measured-terminal', false)
    expect(await page.content()).not.toContain('sk-never-shown')
    expect(await once(run, 'exit')).toEqual([0, null])
    await expect(live).toHaveCount(0)
    await expect(page.locator('#runs tbody tr').filter({ hasText: 'llama-3.1-8b' }).first()).toBeVisible()
  })

  test('that dies is told of as without news', async ({ page }) => {
    const run = bench('llama-3.1-8b')
    await page.goto('/#/measured')
    await expect(page.locator('#live')).toContainText('is running in a terminal')
    run.kill('SIGKILL')
    await once(run, 'exit')
    await expect(page.locator('#live [role=status]')).toContainText('No news since', { timeout: 30_000 })
    await shot(page, 'measured-quiet', false)
  })
})
