/**
 * The server that the tests visit, one for each worker, and the pages they visit it with: any complaint in a browser's
 * console fails a test.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test as base, expect, type Page } from '#peers/playwright.ts';
import { type Call, caller } from '../lib/testing/call.ts';
import { spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { ROOT } from '../scripts/build.ts';
import { noteTestTime, TEST_TIMES } from '../scripts/test-times.ts';
import { createSharedContexts, type SharedContexts } from './shared-contexts.ts';

export { expect } from '#peers/playwright.ts';

export interface Visited {
  url: string;
  /** Its data folder. */
  folder: string;
  /** Path of the printed sign-in link, which works once. */
  link: string;
  call: Call;
}

/** Set while the worker's server runs. */
let current: Visited | null = null;

/** The server of this worker. Tests of one file may run in two workers: what one makes, another may not find. */
export function visited(): Visited {
  if (current === null) throw new Error('No server runs yet: this is for tests and their hooks.');
  return current;
}

/** Starts a server on a throwaway data folder for as long as `use` takes. */
async function serve(hasReplica: boolean, use: (server: Visited) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-browser-'));
  const bucket = `${folder}-replica`;
  const server = await spawnServer({
    folder,
    args: [],
    settings: {
      NODE_ENV: 'production',
      WB_POOL: '2',
      WB_TICK_MS: '200',
      WB_LOG: 'warn',
      ...(hasReplica ? { WB_REPLICA_URL: `file://${bucket}` } : {}),
    },
  });
  const link = /^Sign in: http:\/\/[^/]+(\S+)$/m.exec(server.output())?.[1];
  if (link === undefined) throw new Error(`No sign-in link was printed:\n${server.output()}`);
  await use({ url: server.url, folder, link, call: caller(server.url, TEST_KEY) });
  await server.end('SIGTERM');
  process.stderr.write(server.output().replace(/^(Sign in|Key|Winterdock|ready| {9}).*\n/gm, ''));
  for (const left of [folder, bucket]) rmSync(left, { recursive: true, force: true });
}

/** What a browser's console may say in one test, besides nothing. */
interface Complaints {
  expected: RegExp[];
}

interface PerTest {
  complaints: Complaints;
  /** Notes what the test took, with the browser and the server of its worker, where times are asked for. */
  times: undefined;
  /**
   * `test.use({ ownContext: true })`: for a test of a first visit, or one that sets the clock of its context, which
   * cannot be taken back.
   */
  ownContext: boolean;
}

interface PerWorker {
  /** `test.use({ ownServer: 'NAME' })` in a file: it shares a server only with files that say the same. */
  ownServer: string | null;
  /** `test.use({ hasReplica: true })`: the server ships what sandboxes commit to a folder beside its own. */
  hasReplica: boolean;
  server: Visited;
  sharedContexts: SharedContexts;
}

/** Tests whose pages come from the server, with a console that has to stay silent. */
export const test = base.extend<PerTest, PerWorker>({
  // Workers are told apart by their options.
  ownServer: [null, { option: true, scope: 'worker' }],
  hasReplica: [false, { option: true, scope: 'worker' }],
  server: [
    async ({ hasReplica }, use) => {
      await serve(hasReplica, async (server) => {
        current = server;
        await use(server);
        current = null;
      });
    },
    { scope: 'worker', auto: true, timeout: 120_000 },
  ],
  times: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures that it needs from the pattern.
    async ({}, use, { file }) => {
      const begun = performance.now();
      await use(undefined);
      const path = process.env[TEST_TIMES];
      if (path !== undefined) noteTestTime(path, relative(ROOT, file), begun);
    },
    { auto: true },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  ownContext: [false, { option: true }],
  sharedContexts: [
    async ({ browser, server }, use) => use(createSharedContexts(browser, `${server.url}/healthz`)),
    { scope: 'worker' },
  ],
  context: async ({ browser, sharedContexts, ownContext, javaScriptEnabled, viewport }, use) => {
    if (ownContext) {
      const context = await browser.newContext();
      await use(context);
      await context.close();
      return;
    }
    const context = await sharedContexts.take({ javaScriptEnabled, viewport });
    await use(context);
    await sharedContexts.giveBack(context);
  },
  page: async ({ context }, use) => use(await context.newPage()),
  complaints: [
    async ({ context }, use) => {
      const errors: string[] = [];
      const complaints: Complaints = { expected: [] };
      const listen = (page: Page) => {
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()} (${message.location().url})`);
        });
        page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.stack ?? error.message}`));
      };
      context.on('page', listen);
      await use(complaints);
      expect(errors.filter((line) => !complaints.expected.some((pattern) => pattern.test(line)))).toEqual([]);
    },
    { auto: true },
  ],
});

/** Opens a disclosure beside the moves of a sandbox, which stays open: `More`, `Delete…`. */
export async function openDoor(page: Page, name: 'More' | 'Delete…'): Promise<void> {
  await page.locator('#moves summary').filter({ hasText: name }).click();
}

/** Signs in by the admin key, through the form. Leaves the page on the overview. */
export async function signInByKey(page: Page): Promise<void> {
  await page.goto('/signin');
  await page.getByLabel('Admin key').fill(TEST_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await expect(page.getByRole('banner')).toBeVisible();
}

/** What the form for the admin key sends besides the key. One worker has one server, and one build one form. */
let hiddenFields: Record<string, string> | null = null;

async function readHiddenFields(page: Page): Promise<Record<string, string>> {
  const html = await (await page.request.get('/signin')).text();
  const form = html.split('<form').find((text) => /<input[^>]* name="key"/.test(text)) ?? '';
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?\/>/g);
  return Object.fromEntries([...inputs].map(([, name, value = '']) => [name, value.replaceAll('&quot;', '"')]));
}

/**
 * Gives the page's context a session of the admin key, as a browser without scripts posts the form. It opens no page:
 * two pages fewer than `signInByKey`, for tests that are about something else.
 */
export async function openSession(page: Page): Promise<void> {
  hiddenFields ??= await readHiddenFields(page);
  const answer = await page.request.post('/signin', {
    headers: { origin: visited().url },
    multipart: { ...hiddenFields, key: TEST_KEY },
    maxRedirects: 0,
  });
  expect([answer.status(), answer.headers().location]).toEqual([303, '/']);
}
