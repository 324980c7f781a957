import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'

// The tests drive the real program: `make web-test` builds it. A second one plays
// a service to be measured. Chromium is the system's; the flags keep it from
// calling home.
const port = Number(process.env.RIDGELINE_PORT ?? 8931)
const program = process.env.RIDGELINE ?? '../bin/ridgeline'
const service = `127.0.0.1:${port + 1}`
// Runs that are kept go to a folder of their own, not to the user's.
const home = process.env.RIDGELINE_TEST_HOME ?? (process.env.RIDGELINE_TEST_HOME = mkdtempSync(join(tmpdir(), 'ridgeline-web-')))

export default defineConfig({
  testDir: 'test',
  outputDir: 'test-results',
  fullyParallel: true,
  workers: 2,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  retries: 2, // on a machine that others load; a retry is listed as flaky
  reporter: [['list']],
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1400, height: 900 },
    locale: 'en-US',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  webServer: [
    { command: `${program} emulate --listen ${service} --model llama-3.1-8b --cluster h100x1 --plan tp=1`, url: `http://${service}/health` },
    { command: `${program} web --listen 127.0.0.1:${port} --bench-url http://${service}/v1`, url: `http://127.0.0.1:${port}/`, env: { XDG_DATA_HOME: home } },
  ].map((s) => ({ ...s, reuseExistingServer: false })),
})
