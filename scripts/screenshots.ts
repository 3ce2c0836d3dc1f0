/**
 * `node scripts/screenshots.ts [--out FOLDER] [--only NAME,…] [--all] [--crowd]`: takes the pictures of the console for
 * the documents. It first fills a temporary server with a history, by starting it several times with clocks set back.
 * --only takes those of these names; --all takes every page at every width in both themes; --crowd does so with ten
 * thousand sandboxes, long names, faults, interrupted operations and running jobs. It needs what `npm test` installs.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from '#peers/playwright.ts';
import { crowd, trouble } from '../e2e/crowd.ts';
import { type Berth, environmentOf, HARBOUR, harm, moor, stock } from '../e2e/sample-data.ts';
import { commandLine, runCommand, seeRow } from '../e2e/typing.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { chromium, ensureBrowser } from './browser.ts';
import { ensureBuilt, ROOT } from './build.ts';

const { values: flags } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'docs', 'images') },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    crowd: { type: 'boolean', default: false },
  },
});

type Theme = 'light' | 'dark';
interface Shot {
  name: string;
  path: string;
  /** What a person does before the picture is taken. */
  act?: (page: Page) => Promise<void>;
  whole?: boolean;
}

const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 1280: 860, 1920: 1080 };

async function runThree(page: Page): Promise<void> {
  // The terminal stays: a picture of another width finds it with its lines.
  const isThere = page.getByRole('log').getByText('42').waitFor({ state: 'attached', timeout: 2000 });
  if (
    await isThere.then(
      () => true,
      () => false,
    )
  )
    return;
  for (const command of ['cat README.md', "js -e 'console.log(6 * 7)'", 'ls /memory; wc -l nowhere.txt']) {
    await runCommand(page, command);
  }
}

/** Opens the snapshot that most came from. */
async function openFirst(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'before the March figures' }).click();
  await page.waitForURL('**/snapshots/snap-*');
  await page.getByRole('heading', { name: 'Restore' }).waitFor();
}

/** Opens the terminal over the list, and runs something in it. */
async function openDrawer(page: Page): Promise<void> {
  await page.keyboard.press('Control+Backquote');
  await commandLine(page).focus();
  await seeRow(page, /\$ *$/);
  await page.keyboard.type('wc -c README.md; ls /memory');
  await page.keyboard.press('Enter');
  await seeRow(page, /README\.md$/);
}

/** Opens the oldest moment that is listed, and then what changed since. */
async function openChanges(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Moments' }).getByRole('link').last().click();
  await page.getByRole('link', { name: 'What changed since' }).click();
  await page.getByRole('heading', { name: 'What changed' }).evaluate((heading) => {
    scrollTo(0, heading.getBoundingClientRect().top + scrollY - innerHeight / 4);
  });
}

/** Opens the webhook with its deliveries. */
async function openWebhook(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'on call' }).click();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
}

/** Runs a call of the explorer. */
async function runCall(page: Page): Promise<void> {
  const cell = page.locator('[data-call-name="getInstance"]');
  await cell.locator('summary').click();
  await cell.getByLabel('id in the path').fill('support-triage');
  await cell.getByRole('button', { name: 'Run', exact: true }).click();
  await cell.getByRole('figure', { name: 'The answer' }).waitFor();
  await cell.locator('summary').scrollIntoViewIfNeeded();
}

/** Those in README.md are wanted in both themes, those in docs/console.md in the light one. */
const README_SHOTS: readonly Shot[] = [
  { name: 'overview', path: '/' },
  { name: 'sandbox', path: '/sandboxes/support-triage' },
];

const TOUR_SHOTS: readonly Shot[] = [
  { name: 'sandboxes', path: '/sandboxes?tenant=northwind' },
  { name: 'files', path: '/sandboxes/support-triage?volume=workspace&path=/src/index.js#inside' },
  { name: 'terminal', path: '/sandboxes/release-notes-writer?tab=terminal', act: runThree },
  { name: 'plan', path: '/sandboxes/support-triage/plan?to=deleted' },
  { name: 'workbook', path: '/workbooks/orders?tenant=acme' },
  { name: 'docked', path: '/sandboxes/support-triage?tab=workbook#parts' },
  { name: 'schedules', path: '/sandboxes/support-triage?tab=schedules#parts' },
  { name: 'explorer', path: '/explorer?q=getInstance', act: runCall },
  { name: 'archive', path: '/archive' },
  { name: 'snapshot', path: '/snapshots', act: openFirst },
  { name: 'tenant', path: '/tenants/northwind' },
  { name: 'week', path: '/#week' },
  { name: 'time', path: '/sandboxes/support-triage?tab=time#parts' },
  { name: 'log', path: '/sandboxes/price-watch?tab=logs' },
  { name: 'past', path: '/sandboxes/price-watch?tab=past', act: openChanges },
  { name: 'attention', path: '/attention' },
  { name: 'webhooks', path: '/settings/webhooks', act: openWebhook },
  { name: 'audit', path: '/audit' },
  { name: 'thresholds', path: '/settings/thresholds' },
  { name: 'storage', path: '/settings/storage' },
  // It stays open on every page that comes after.
  { name: 'drawer', path: '/sandboxes/release-notes-writer?tab=ledger', act: openDrawer },
];

const ALL_SHOTS: readonly Shot[] = [
  { name: 'overview', path: '/', whole: true },
  { name: 'sandboxes', path: '/sandboxes', whole: true },
  { name: 'filtered', path: '/sandboxes?state=deleted&label=nonsense', whole: true },
  { name: 'active', path: '/sandboxes/release-notes-writer', whole: true },
  { name: 'terminal', path: '/sandboxes/release-notes-writer?tab=terminal', act: runThree, whole: true },
  { name: 'suspended', path: '/sandboxes/support-triage?volume=workspace&path=/src/index.js', whole: true },
  {
    name: 'long',
    path: '/sandboxes/migration-rehearsal-with-a-very-long-identifier-0001?volume=workspace&path=/data/model.bin',
    whole: true,
  },
  { name: 'archived', path: '/sandboxes/onboarding-demo?volume=workspace&path=/data/pixel.png', whole: true },
  { name: 'created', path: '/sandboxes/fresh-one', whole: true },
  { name: 'damaged', path: '/sandboxes/fraud-model-eval', whole: true },
  { name: 'missing', path: '/sandboxes/intern-project', whole: true },
  { name: 'deleted', path: '/sandboxes/old-experiment', whole: true },
  { name: 'archive', path: '/archive', whole: true },
  { name: 'desk', path: '/sandboxes/batch-worker-01?volume=workspace&path=/src/index.js', whole: true },
  { name: 'tenants', path: '/tenants', whole: true },
  { name: 'tenant', path: '/tenants/northwind', whole: true },
  { name: 'audit', path: '/audit', whole: true },
  { name: 'not-found', path: '/sandboxes/never-was' },
  { name: 'ledger', path: '/sandboxes/support-triage?tab=ledger', whole: true },
  { name: 'copies', path: '/sandboxes/support-triage?tab=snapshots', whole: true },
  { name: 'shipping', path: '/sandboxes/support-triage?tab=shares', whole: true },
  { name: 'network', path: '/sandboxes/support-triage?tab=network', whole: true },
  { name: 'environment', path: '/sandboxes/support-triage?tab=environment', whole: true },
  { name: 'settings', path: '/sandboxes/support-triage?tab=settings', whole: true },
  { name: 'plan', path: '/sandboxes/support-triage/plan?to=deleted', whole: true },
  { name: 'thresholds', path: '/settings/thresholds?suspend=5+min', whole: true },
  { name: 'storage', path: '/settings/storage', whole: true },
  { name: 'snapshots', path: '/snapshots', whole: true },
  { name: 'snapshot', path: '/snapshots', act: openFirst, whole: true },
  { name: 'blueprints', path: '/blueprints', whole: true },
  { name: 'blueprint', path: '/blueprints/release-notes', whole: true },
  { name: 'shares', path: '/shares', whole: true },
  { name: 'workbooks', path: '/workbooks', whole: true },
  { name: 'workbook', path: '/workbooks/orders?tenant=acme', whole: true },
  { name: 'docked', path: '/sandboxes/support-triage?tab=workbook', whole: true },
  { name: 'schedules', path: '/sandboxes/support-triage?tab=schedules', whole: true },
  { name: 'explorer', path: '/explorer?q=getInstance', act: runCall, whole: true },
  { name: 'time', path: '/sandboxes/support-triage?tab=time', whole: true },
  { name: 'log', path: '/sandboxes/price-watch?tab=logs', whole: true },
  { name: 'past', path: '/sandboxes/price-watch?tab=past', act: openChanges, whole: true },
  { name: 'attention', path: '/attention', whole: true },
  { name: 'webhooks', path: '/settings/webhooks', whole: true },
  { name: 'webhook', path: '/settings/webhooks', act: openWebhook, whole: true },
  { name: 'people', path: '/settings/people', whole: true },
  { name: 'keys', path: '/settings/keys', whole: true },
  { name: 'own', path: '/settings', whole: true },
  { name: 'sealed', path: '/settings/ledger', whole: true },
  { name: 'many', path: '/jobs/new?verb=freeze&all=1&tenant=northwind', whole: true },
  { name: 'forget', path: '/tenants/northwind/forget', whole: true },
  // It stays open on every page that comes after.
  { name: 'drawer', path: '/sandboxes/release-notes-writer?tab=ledger', act: openDrawer },
];

/** Among so many, and a tenant in trouble. */
const CROWD = 10_000;
const STORM = 'storm';
const CROWD_SHOTS: readonly Shot[] = [
  { name: 'stuck', path: '/sandboxes?pending=stuck', whole: true },
  { name: 'interrupted', path: `/sandboxes/${STORM}-4`, whole: true },
  { name: 'trouble', path: `/tenants/${STORM}`, whole: true },
  { name: 'jobs', path: '/jobs', whole: true },
];

const DAY = 24;

/** A fleet of like workers, as there would be: so many, taken through the same verbs as long ago. */
function fleet(from: number, count: number, verbs: Berth['verbs'], hoursAgo: number): Berth[] {
  return Array.from({ length: count }, (_, index) => {
    const number = String(from + index).padStart(2, '0');
    const input = {
      id: `batch-worker-${number}`,
      tenant: 'northwind',
      name: `Batch worker ${number}`,
      labels: { batch: 'b7' },
    };
    return { input, verbs, hoursAgo };
  });
}

const SCENE: readonly Berth[] = [
  ...fleet(1, 7, ['resume', 'archive'], 41 * DAY),
  ...fleet(8, 11, ['resume', 'suspend', 'freeze'], 3 * DAY + 2),
  ...fleet(19, 6, ['resume', 'suspend'], 7),
  ...fleet(25, 2, ['resume'], 0),
  ...HARBOUR,
];

/** Somebody who is told: the first message finds them busy. */
async function listener(): Promise<{ url: string; stop: () => void }> {
  let heard = 0;
  const server = createServer((request, response) => {
    heard += 1;
    request.resume().on('end', () => response.writeHead(heard === 1 ? 503 : 204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

const WATCHING = [
  'printf "item,price\\nrope,12\\nanchor,310\\nlantern,28\\n" > prices.csv; echo INFO first look, 3 prices',
  'sed -i s/310/295/ prices.csv; echo "WARN anchor fell to 295"; echo "INFO next look in an hour"',
  'echo "buoy,44" >> prices.csv; echo "ERROR lantern: the shop did not answer"; ls',
];
const MOMENT_MS = 1500;

/** What has just happened when the picture is taken. */
async function bustle({ call }: ServerProcess): Promise<void> {
  for (const command of WATCHING) {
    await call('POST', '/api/instances/price-watch/exec', { command });
    // Each of them is another moment of its replica then.
    await setTimeout(MOMENT_MS);
  }
  await call('POST', '/api/instances/price-watch/suspend', {});
  await call('POST', '/api/instances/batch-worker-03/revive', { reason: 'the March figures are asked for again' });
}

/** A server on `folder` whose clock is `hours` behind. */
function serverOf(
  folder: string,
  hours: number,
  args: string[],
  more: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const behind = `const now = Date.now; Date.now = () => now() - ${Math.round(hours * 3_600_000)};`;
  const options = hours === 0 ? '' : `--import=data:text/javascript,${encodeURIComponent(behind)}`;
  return spawnServer({
    folder,
    args,
    settings: { NODE_ENV: 'production', WB_LOG: 'warn', NODE_OPTIONS: options, ...more },
  });
}

async function fillThePast(folder: string): Promise<void> {
  const times = [...new Set(SCENE.map(({ hoursAgo }) => hoursAgo))].filter((hours) => hours > 0).sort((a, b) => b - a);
  for (const hours of times) {
    const server = await serverOf(folder, hours, ['--api-only']);
    for (const berth of SCENE.filter(({ hoursAgo }) => hoursAgo === hours)) await moor(server.call, berth);
    await server.end('SIGTERM');
  }
}

async function picture(
  browser: Browser,
  url: string,
  shots: readonly Shot[],
  width: number,
  theme: Theme,
): Promise<void> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width, height: HEIGHTS[width] ?? 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.goto('/signin');
  await page.getByLabel('Admin key').fill(TEST_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('banner').waitFor();
  for (const { name, path, act, whole = false } of shots) {
    await page.goto(path);
    await page.getByText('live', { exact: true }).waitFor();
    await act?.(page);
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(flags.out, `${name}-${theme}-${width}.png`), fullPage: whole });
  }
  await context.close();
}

ensureBuilt();
mkdirSync(flags.out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'winterdock-pictures-'));
const replica = mkdtempSync(join(tmpdir(), 'winterdock-pictures-replica-'));
try {
  if (flags.crowd) await crowd(folder, CROWD, Math.floor(Date.now() / 1000));
  await fillThePast(folder);
  const told = await listener();
  const server = await serverOf(folder, 0, [], {
    WB_OUTGOING_ALLOWED: told.url,
    WB_REPLICA_URL: pathToFileURL(replica).href,
  });
  await server.call('POST', '/api/webhooks', {
    name: 'on call',
    url: `${told.url}/on-call`,
    types: ['problems', 'transition'],
  });
  for (const berth of SCENE.filter(({ hoursAgo }) => hoursAgo === 0)) await moor(server.call, berth);
  await harm(server.call, folder);
  await bustle(server);
  await stock(server.call);
  if (flags.all || flags.crowd) await environmentOf(server.call);
  if (flags.crowd) await trouble(folder, STORM, Date.now());
  const browser = await chromium.launch({
    executablePath: ensureBrowser(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const every = flags.crowd ? [...ALL_SHOTS, ...CROWD_SHOTS] : ALL_SHOTS;
  for (const theme of ['light', 'dark'] as const) {
    const few = theme === 'light' ? [...README_SHOTS, ...TOUR_SHOTS] : README_SHOTS;
    const only = flags.only?.split(',');
    const shots = (flags.all || flags.crowd ? every : few).filter(
      ({ name }) => only === undefined || only.includes(name),
    );
    for (const width of flags.all || flags.crowd ? [390, 1280, 1920] : [1280]) {
      await picture(browser, server.url, shots, width, theme);
    }
  }
  await browser.close();
  await server.end('SIGTERM');
  told.stop();
} finally {
  for (const used of [folder, replica]) rmSync(used, { recursive: true, force: true });
}
process.stdout.write(`Pictures are in ${flags.out}\n`);
