/**
 * Finds a Chromium for the browser tests, or installs one: Playwright's own first, then the system's package where one
 * may.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chromium } from '#peers/playwright.ts';
import { ROOT } from './build.ts';
import { toolAt } from './run.ts';

export { chromium };

/** Chromium without windows, which nobody sees in a test: a page costs it half the processor time. */
const HEADLESS = '/usr/bin/chromium-headless-shell';
const SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

function found(): string | undefined {
  const given = process.env.WB_TEST_BROWSER;
  const places = [...(given === undefined ? [] : [given]), HEADLESS, chromium.executablePath(), ...SYSTEM];
  return places.find((path) => existsSync(path));
}

function run(command: string, args: string[]): void {
  process.stdout.write(`\n> ${command} ${args.join(' ')}\n`);
  // Whether it worked is judged by what it leaves: the caller looks for the browser again.
  spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], timeout: 600_000 });
}

/** The path of a Chromium. Throws when there is none and none could be installed. */
export function ensureBrowser(): string {
  const here = found();
  if (here !== undefined) return here;
  run(toolAt('playwright'), ['install', 'chromium']);
  const downloaded = found();
  if (downloaded !== undefined) return downloaded;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    run('apt-get', ['update']);
    for (const name of ['chromium-headless-shell', 'chromium']) {
      run('apt-get', ['install', '-y', '--no-install-recommends', name]);
      const installed = found();
      if (installed !== undefined) return installed;
    }
  }
  throw new Error('No Chromium found and none could be installed. Set WB_TEST_BROWSER to the path of one.');
}
