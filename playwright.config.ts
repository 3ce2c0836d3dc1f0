/** Browser tests: a real Chromium, and in each of two workers a real server on a throwaway data folder. */
import { defineConfig } from '#peers/playwright.ts';
import { ensureBrowser } from './scripts/browser.ts';
import { filesLeftOut } from './scripts/test-days.ts';
import { TEST_ENVIRONMENT } from './scripts/test-environment.ts';

// For the servers: each worker reads this file.
Object.assign(process.env, TEST_ENVIRONMENT);

/**
 * Nothing leaves the machine: no updates, no safe-browsing lists, no first-run pages. And the pages of a context share
 * a process, which keeps what it has compiled.
 */
const SWITCHES = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
  '--process-per-site',
];

export default defineConfig({
  testDir: './e2e',
  testMatch: '**/*.spec.ts',
  testIgnore: filesLeftOut(process.env).map((file) => `**/${file}`),
  globalSetup: './e2e/build.ts',
  workers: 2,
  fullyParallel: true,
  retries: 0,
  timeout: 300_000,
  // A busy machine is no failure: what is waited for comes, or never does.
  expect: { timeout: 120_000 },
  reporter: 'list',
  use: {
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      executablePath: ensureBrowser(),
      args: process.getuid?.() === 0 ? [...SWITCHES, '--no-sandbox'] : SWITCHES,
    },
  },
});
