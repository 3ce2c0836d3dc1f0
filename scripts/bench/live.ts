/**
 * What watching costs: ten browsers look at the overview and the list while lines come at a steady rate, and the
 * server's CPU time is set beside that of the same lines without a browser, in turn. The console must be built.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Page } from '#peers/playwright.ts';
import { ensureBuilt } from '../build.ts';
import { must } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { KEY, type Running, startWinterdock } from './server.ts';
import { estimateOf } from './statistics.ts';

const BROWSERS = 10;
const PER_SECOND = 200;
const SANDBOXES = 200;
/** Half of the lines are changes, half new sandboxes: what the overview counts and the list shows both move. */
const BEAT_MS = 50;
const WARM_UP_MS = 3000;
const KEPT_UP_MS = 60_000;
const WINDOW = { width: 1280, height: 300 };
const TICKS_PER_SECOND = 100;
const FLOOR = 'the same lines without a browser';
const EXCLUDES = 'what the browsers themselves take, or pages other than the overview and the list.';

/** CPU seconds that a process has used, its threads included, user and system. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

let made = 0;

/** One line of the ledger: a new sandbox, or a change of one that there is. */
async function happen(server: Running): Promise<void> {
  const n = made++;
  const [method, path, body] =
    n % 2 === 0
      ? ['POST', '', { id: `made-${n}`, tenant: `bench-${n % 7}` }]
      : ['PATCH', `/steady-${n % SANDBOXES}`, { labels: { round: String(n) } }];
  const answer = await fetch(`${server.url}/api/instances${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
}

/**
 * Lines at the rate for `ms`. Returns the share of a core that the server used meanwhile, and how many lines a second
 * there were.
 */
async function flood(server: Running, ms: number): Promise<{ share: number; rate: number }> {
  const first = made;
  const started = performance.now();
  const used = cpuSeconds(server.pid);
  const until = started + ms;
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - started) / 1000) * PER_SECOND);
    await Promise.all(Array.from({ length: due - (made - first) }, () => happen(server)));
    await setTimeout(BEAT_MS);
  }
  const seconds = (performance.now() - started) / 1000;
  return { share: (cpuSeconds(server.pid) - used) / seconds, rate: (made - first) / seconds };
}

/** Signs in and opens a page, live. */
async function watch(browser: Browser, server: Running, path: string): Promise<Page> {
  // Small windows: what browsers do with themselves is not what is measured, and takes from the machine.
  const context = await browser.newContext({ baseURL: server.url, reducedMotion: 'reduce', viewport: WINDOW });
  const page = await context.newPage();
  await page.goto('/signin');
  await page.getByLabel('Admin key').fill(KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByText('live', { exact: true }).waitFor();
  await page.goto(path);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

/** Measures `rounds` times for `ms` each, with and without browsers. */
export async function measureLive(ms: number, rounds: number): Promise<PartResult> {
  ensureBuilt();
  const server = await startWinterdock({ WB_POOL: '0' }, undefined, []);
  // Loaded here alone: what the other parts measure needs no browser.
  const { chromium, ensureBrowser } = await import('../browser.ts');
  const browser = await chromium.launch({
    executablePath: ensureBrowser(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const extra: number[] = [];
  const rates: number[] = [];
  const shares: Record<'alone' | 'watched', number[][]> = { alone: [], watched: [] };
  try {
    for (let n = 0; n < SANDBOXES; n += 1) {
      const body = JSON.stringify({ id: `steady-${n}`, tenant: 'bench' });
      await must('POST', `${server.url}/api/instances`, KEY, body);
    }
    await flood(server, WARM_UP_MS);
    for (let round = 0; round < rounds; round += 1) {
      const alone = await flood(server, ms);
      const pages: Page[] = [];
      for (let n = 0; n < BROWSERS; n += 1) {
        pages.push(await watch(browser, server, n % 2 === 0 ? '/' : '/sandboxes'));
      }
      await flood(server, WARM_UP_MS);
      const watched = await flood(server, ms);
      await must('POST', `${server.url}/api/instances`, KEY, JSON.stringify({ id: `seen-${round}`, tenant: 'bench' }));
      // They kept up: each shows what came last.
      for (const page of pages) await page.getByText(`seen-${round}`).first().waitFor({ timeout: KEPT_UP_MS });
      for (const page of pages) await page.context().close();
      // A busy machine brings fewer lines: what they themselves cost is taken for as many.
      extra.push((watched.share - alone.share * (watched.rate / alone.rate)) * 100);
      shares.alone.push([alone.share * 100]);
      shares.watched.push([watched.share * 100]);
      rates.push(Math.min(alone.rate, watched.rate));
      process.stderr.write(
        `${PER_SECOND} lines a second: ${(alone.share * 100).toFixed(1)} % of a core alone, ${(watched.share * 100).toFixed(1)} % watched\n`,
      );
    }
  } finally {
    await browser.close();
    await server.stop();
  }
  return {
    series: [
      seriesOf(FLOOR, shares.alone, { unit: '% of a core', excludes: EXCLUDES }),
      seriesOf('with browsers', shares.watched, { unit: '% of a core', floor: FLOOR, excludes: EXCLUDES }),
    ],
    figures: [
      figureOf(
        `share of a core that ${BROWSERS} browsers cost the server at ${PER_SECOND} lines a second`,
        estimateOf(extra),
        { unit: '%', bar: 'live: share of a core', excludes: EXCLUDES },
      ),
      figureOf('lines a second meanwhile, the least of all rounds', estimateOf(rates, 0), {
        unit: '/s',
        excludes: EXCLUDES,
      }),
    ],
  };
}
