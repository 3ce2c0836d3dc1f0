/** Browser tests: the real server on a throwaway data folder, a real Chromium, one after another. */
import { defineConfig } from '#peers/playwright.ts';
import { ensureBrowser } from './scripts/browser.ts';

/** Nothing leaves the machine: no updates, no safe-browsing lists, no first-run pages. */
const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
];

export default defineConfig({
  testDir: './e2e',
  testMatch: '**/*.spec.ts',
  globalSetup: './e2e/serve.ts',
  workers: 1,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      executablePath: ensureBrowser(),
      args: process.getuid?.() === 0 ? [...QUIET, '--no-sandbox'] : QUIET,
    },
  },
});
