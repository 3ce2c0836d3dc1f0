/**
 * A filter that is typed over the list, in a browser: the time from the last letter until its rows are shown. Two
 * servers in turn, with few sandboxes and with many.
 */
import type { Browser, Page } from '#peers/playwright.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { KEY } from './server.ts';
import { percentileOf, ratioOf } from './statistics.ts';

const EXCLUDES = 'other browsers. The box waits 0.3 s for the next letter, which is part of it.';
/** Each fills a page of both lists; nobody types the same twice. */
const TYPED = [
  'tla',
  'idle:>30d',
  'rod',
  'label:env=prod state:frozen',
  'taging',
  'idle:>30d label:env=prod state:frozen',
  'tenant:tenant-0',
  'run',
];
const LONGEST_MS = 20_000;

/** `urls`: of servers with consoles on filled registries. `rows`: how many the larger one has. */
export async function measureTyping(
  urls: Record<'small' | 'large', string>,
  rows: Record<'small' | 'large', number>,
  rounds: number,
): Promise<PartResult> {
  // Loaded here alone: what the other parts measure needs no browser.
  const { chromium, ensureBrowser } = await import('../browser.ts');
  const browser = await chromium.launch({
    executablePath: ensureBrowser(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const pages = { small: await openList(browser, urls.small), large: await openList(browser, urls.large) };
    const typed = (round: number) => TYPED[(round + TYPED.length) % TYPED.length] ?? '';
    const found = await roundRobin(rounds, {
      small: async (round) => [await typeFilter(pages.small, typed(round))],
      large: async (round) => [await typeFilter(pages.large, typed(round))],
    });
    return {
      series: (['small', 'large'] as const).map((size) =>
        seriesOf(`a typed filter until its rows are shown, ${rows[size]} rows`, found[size], { excludes: EXCLUDES }),
      ),
      figures: [
        figureOf(
          `a typed filter until its rows are shown: ${rows.large} rows / ${rows.small}`,
          ratioOf(found.large, found.small),
          { unit: '×', bar: 'pages: million over thousand', excludes: EXCLUDES },
        ),
        figureOf(`a typed filter until its rows are shown, p95, ${rows.large} rows`, percentileOf(found.large, 0.95), {
          unit: 'ms',
          bar: 'pages: typed filter, p95',
          excludes: EXCLUDES,
        }),
      ],
    };
  } finally {
    await browser.close();
  }
}

/** Signs in and opens the list. */
async function openList(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: url, reducedMotion: 'reduce' })).newPage();
  await page.goto('/signin');
  await page.getByLabel('Admin key').fill(KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('banner').waitFor();
  await page.goto('/sandboxes');
  await page.getByLabel('Find, or type a filter').focus();
  return page;
}

/** Milliseconds until the address has the filter and the rows are there. */
async function typeFilter(page: Page, text: string): Promise<number> {
  return page.getByLabel('Find, or type a filter').evaluate(
    async (box: HTMLInputElement, { typed, longest }) => {
      const before = location.href;
      box.value = typed;
      const began = performance.now();
      box.dispatchEvent(new InputEvent('input', { bubbles: true }));
      while (location.href === before || box.ariaBusy === 'true') {
        if (performance.now() - began > longest) throw new Error(`No answer to "${typed}".`);
        await new Promise((shown) => requestAnimationFrame(shown));
      }
      return performance.now() - began;
    },
    { typed: text, longest: LONGEST_MS },
  );
}
