/**
 * Pages of the console, rendered by the server with a thousand sandboxes and lines of the ledger beside a million: the
 * whole HTML over HTTP, with its counts, filters and the layout's own reads; and the list in a browser as a filter is
 * typed. The time must not grow with what exists.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  FILLED,
  FILLED_ACTORS,
  fillLedger,
  fillRegistry,
  placeFilledFiles,
} from '../../lib/registry/sqlite/testing/fill.ts';
import { ensureBuilt } from '../build.ts';
import { must, timed } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { FLOOR, KEY, type Running, startBare, startWinterdock } from './server.ts';
import { ratioOf } from './statistics.ts';
import { measureTyping } from './typing.ts';

const SMALL = 1000;
const EXCLUDES = 'what a browser does with a page, or the first page after a start.';
/** Rows of a page. */
const ROWS = 100;
/** Pages that are passed on the way to the deep one. */
const DEEP = 4;

const { tenant, state, label, rareWord, middlingWord, commonWord } = FILLED;
const LIST = `/sandboxes?limit=${ROWS}`;
const DEEP_PAGE = 'a deep page of the list';
const PAGES: readonly (readonly [what: string, path: string])[] = Object.entries({
  'the list': LIST,
  [DEEP_PAGE]: LIST,
  'the list by state': `/sandboxes?limit=${ROWS}&state=${state}`,
  'the list by tenant': `/sandboxes?limit=${ROWS}&tenant=${tenant}`,
  'the list by label': `/sandboxes?limit=${ROWS}&label=${label.key}:${label.value}`,
  'the list by a rare word': `/sandboxes?limit=${ROWS}&q=${rareWord}`,
  'the list by a word in a tenth': `/sandboxes?limit=${ROWS}&q=${middlingWord}`,
  'the list by a rare middle part': `/sandboxes?limit=${ROWS}&q=${rareWord.slice(3, 9)}`,
  'the list by label, state and idle time': `/sandboxes?limit=${ROWS}&label=env:${commonWord}&state=${state}&idle_over=2592000`,
  'the list by idle time': `/sandboxes?limit=${ROWS}&idle_over=2592000&sort=-updated`,
  'the list by a common word': `/sandboxes?limit=${ROWS}&q=${commonWord}`,
  'the list by name': `/sandboxes?limit=${ROWS}&sort=name`,
  'the archive': '/archive',
  'a tenant': `/tenants/${tenant}`,
  'the ledger': '/audit',
  'the ledger of an actor and a type': `/audit?actor=${FILLED_ACTORS.rare}&type=transition`,
  'the overview': '/',
});

interface Site {
  url: string;
  stop(): Promise<unknown>;
}

/** A server with its console on a filled data folder; nothing moves by itself. */
async function openSite(folder: string): Promise<Site> {
  const server = await startWinterdock({ WB_POOL: '0', WB_TICK_MS: '3600000', WB_RATE_KEY: '0' }, folder, []);
  return { url: server.url, stop: () => server.stop({ keep: true }) };
}

async function pageOf({ url }: Site, path: string): Promise<string> {
  const { body } = await must('GET', `${url}${path}`, KEY);
  return body.toString();
}

/** The address of the page after so many others, as the pages themselves link it. */
async function deepPath(site: Site, path: string): Promise<string> {
  let at = path;
  for (let n = 0; n < DEEP; n += 1) {
    const next = /<a[^>]*rel="next"[^>]*href="([^"]+)"|<a[^>]*href="([^"]+)"[^>]*rel="next"/.exec(
      await pageOf(site, at),
    );
    at = (next?.[1] ?? next?.[2] ?? at).replaceAll('&amp;', '&');
  }
  return at;
}

/** `large` is the number of rows and lines of the larger site. */
export async function measurePages(large: number, rounds: number): Promise<PartResult> {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-pages-'));
  const open = (rows: number) => {
    const path = join(folder, String(rows), 'registry.sqlite');
    mkdirSync(dirname(path));
    fillRegistry(path, rows);
    fillLedger(path, rows);
    placeFilledFiles(dirname(path));
    return openSite(dirname(path));
  };
  const sites = { small: await open(SMALL), large: await open(large), bare: await startBare() };
  try {
    const pages = await comparePages(sites, large, rounds);
    const urls = { small: sites.small.url, large: sites.large.url };
    const typing = await measureTyping(urls, { small: SMALL, large }, rounds);
    return { series: [...pages.series, ...typing.series], figures: [...pages.figures, ...typing.figures] };
  } finally {
    await sites.small.stop();
    await sites.large.stop();
    await sites.bare.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function comparePages(
  { small, large, bare }: { small: Site; large: Site; bare: Running },
  rows: number,
  rounds: number,
): Promise<PartResult> {
  const result: PartResult = { series: [], figures: [] };
  const floor: (readonly number[])[] = [];
  for (const [what, path] of PAGES) {
    const paths =
      what === DEEP_PAGE
        ? { small: await deepPath(small, path), large: await deepPath(large, path) }
        : { small: path, large: path };
    const found = await roundRobin(rounds, {
      floor: once(() => timed(() => must('POST', bare.url, KEY, '{}'))),
      small: once(() => timed(() => pageOf(small, paths.small))),
      large: once(() => timed(() => pageOf(large, paths.large))),
    });
    floor.push(...found.floor);
    const options = { floor: FLOOR, excludes: EXCLUDES };
    result.series.push(seriesOf(`${what} as a page, ${SMALL} rows`, found.small, options));
    result.series.push(seriesOf(`${what} as a page, ${rows} rows`, found.large, options));
    result.figures.push(
      figureOf(`${what} as a page: ${rows} rows / ${SMALL}`, ratioOf(found.large, found.small), {
        unit: '×',
        bar: 'pages: million over thousand',
        excludes: EXCLUDES,
      }),
    );
  }
  result.series.unshift(seriesOf(FLOOR, floor, { excludes: EXCLUDES }));
  return result;
}
