/**
 * What a replica costs while nothing happens: many sandboxes asleep, and some awake that commit nothing. They are made
 * once; what the folder has of them is put into the store as well.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { createCrowd, workThrough } from './crowd.ts';
import { must } from './measure.ts';
import { cpuOf, pssOf } from './processes.ts';
import { PLACE_NAMES, PLACES, type Places, untilShipped } from './replica-places.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { execIn, makeSandbox, resume, suspendSandbox } from './sandboxes.ts';
import { KEY, type Running, startWinterdock, UNLIMITED } from './server.ts';
import { makeSleepers } from './sleepers.ts';
import { type Estimate, estimateOf, type Slices } from './statistics.ts';

/** Sandboxes that are made at the same time: more would only wait for the processors. */
const MAKERS = 2;
const MOST_AT_ONCE = 1000;
const CHECKED_POLL_MS = 250;
const MODEL = 'model';
/** Of the replica. */
const NAME = 'idle';
const EXCLUDES = {
  memory: 'the workers, which are the same with a replica and without one.',
  core: 'the workers, or sandboxes that commit.',
};

export interface IdleSizes {
  asleep: number;
  awake: number;
  slices: number;
  sliceMs: number;
  /** After the wakes, until the server has given back what they took. */
  settleMs: number;
}

interface Idle {
  /** Of the server, in MB and in % of a core. */
  memory: Slices;
  core: Slices;
}

export async function measureIdleReplica(places: Places, sizes: IdleSizes): Promise<PartResult> {
  const made = await makeAll(places, sizes);
  let found: Record<'folder' | 'store' | 'without', Idle>;
  try {
    const folder = await measureIdle(made, places.settings('folder', NAME), sizes);
    await places.copyToStore(NAME);
    const store = await measureIdle(made, places.settings('store', NAME), sizes);
    // What is at rest without a replica is another file than that which was shipped: it comes last.
    found = { folder, store, without: await measureIdle(made, {}, sizes) };
  } finally {
    rmSync(made.folder, { recursive: true, force: true });
  }
  const result: PartResult = { series: [], figures: [] };
  const who = `${sizes.asleep} asleep and ${sizes.awake} awake`;
  const add = (of: 'memory' | 'core', what: string, unit: string) => {
    const excludes = EXCLUDES[of];
    const floor = `${what}, ${who}, without a replica`;
    result.series.push(seriesOf(floor, found.without[of], { unit, excludes }));
    for (const place of PLACE_NAMES) {
      const more = differenceOf(found[place][of], found.without[of]);
      const bar = of === 'memory' ? 'replica: memory' : 'replica: share of a core';
      result.figures.push(figureOf(`more ${what}, ${who}, ${PLACES[place]}`, more, { unit, bar, excludes }));
      result.series.push(seriesOf(`${what}, ${who}, ${PLACES[place]}`, found[place][of], { unit, floor, excludes }));
    }
  };
  add('memory', 'memory of the server (PSS)', 'MB');
  add('core', 'processor time of the server', '% of a core');
  return result;
}

/** Medians of what was not measured in the same turns: the spread of each is that of the other's too. */
function differenceOf(over: Slices, under: Slices): Estimate {
  const [one, other] = [estimateOf(over.flat()), estimateOf(under.flat())];
  const isSpread = one.low !== null && one.high !== null && other.low !== null && other.high !== null;
  return {
    measured: one.measured - other.measured,
    low: isSpread ? Number(one.low) - Number(other.high) : null,
    high: isSpread ? Number(one.high) - Number(other.low) : null,
  };
}

interface Made {
  /** Of the server, which does not run. */
  folder: string;
  /** Those that are to be awake. */
  awake: string[];
  /** The last ones that are looked at. */
  last: string[];
}

const settingsOf = (replica: Record<string, string>, { awake }: IdleSizes) => ({
  ...UNLIMITED,
  ...replica,
  WB_POOL: '0',
  WB_MAX_ACTIVE: String(awake + 1),
  WB_HOT_TO_WARM: '0',
  WB_IDLE_TO_SUSPEND: '86400',
});

/** The data folder of a server whose sandboxes sleep, and are in its replica. */
async function makeAll(places: Places, sizes: IdleSizes): Promise<Made> {
  const settings = settingsOf(places.settings('folder', NAME), sizes);
  const server = await startWinterdock(settings);
  let isMade = false;
  try {
    const awake = await makeAsleep(server, sizes.awake + 1);
    for (const id of awake) await untilShipped(server, id);
    isMade = true;
    await server.stop({ keep: true });
    const model = awake.pop() ?? MODEL;
    const asleep = makeSleepers(server.folder, places.folderOf(NAME), model, sizes.asleep - 1);
    // They are looked at in the order of their ids.
    const last = [asleep, [...awake, model]].map((ids) => ids.toSorted().at(-1) ?? model);
    return { folder: server.folder, awake, last };
  } finally {
    if (!isMade) await server.stop();
  }
}

/** A server that has shipped everything, was started anew, and has woken its sandboxes. */
async function measureIdle(
  { folder, awake, last }: Made,
  replica: Record<string, string>,
  sizes: IdleSizes,
): Promise<Idle> {
  const settings = settingsOf(replica, sizes);
  const isShipped = Object.keys(replica).length > 0;
  const preparing = await startWinterdock(settings, folder);
  try {
    if (isShipped) for (const id of last) await untilShipped(preparing, id);
    await untilChecked(folder);
  } finally {
    await preparing.stop({ keep: true });
  }
  const server = await startWinterdock(settings, folder);
  try {
    if (isShipped) for (const id of last) await untilShipped(server, id);
    await workThrough(createCrowd(MAKERS), awake, async (id) => {
      await resume(server, id);
      await execIn(server, id, 'cat note');
    });
    await setTimeout(sizes.settleMs);
    const found: { memory: number[][]; core: number[][] } = { memory: [], core: [] };
    for (let slice = 0; slice < sizes.slices; slice += 1) {
      const [began, before] = [performance.now(), cpuOf(server.pid)];
      await setTimeout(sizes.sliceMs);
      found.core.push([((cpuOf(server.pid) - before) / (performance.now() - began)) * 100]);
      found.memory.push([pssOf(server.pid)]);
    }
    return found;
  } finally {
    await server.stop({ keep: true });
  }
}

/**
 * Resolves once every file at rest was checked: each check is a line of the registry, and the replica ships it. Those
 * that a stop has put to rest are checked by the next start, a few in a second.
 */
async function untilChecked(folder: string): Promise<void> {
  const registry = new DatabaseSync(join(folder, 'registry.sqlite'), { readOnly: true });
  try {
    const unchecked = registry.prepare(
      "SELECT count(*) AS count FROM instances WHERE state = 'suspended' AND file ->> 'quickCheck' IS NULL",
    );
    while (Number(unchecked.get()?.count) > 0) await setTimeout(CHECKED_POLL_MS);
  } finally {
    registry.close();
  }
}

/** So many suspended sandboxes with a note; returns their ids. */
async function makeAsleep(server: Running, count: number): Promise<string[]> {
  await makeSandbox(server, MODEL);
  await suspendSandbox(server, MODEL);
  const post = async (path: string, body: object) =>
    JSON.parse((await must('POST', `${server.url}/api${path}`, KEY, JSON.stringify(body))).body.toString());
  const { id: snapshot } = await post(`/instances/${MODEL}/snapshots`, {});
  const ids: string[] = [];
  while (ids.length < count) {
    const made = await post(`/snapshots/${snapshot}/restore`, {
      count: Math.min(MOST_AT_ONCE, count - ids.length),
      tenant: 'bench',
      name: `asleep-${ids.length}`,
    });
    ids.push(...made.map(({ id }: { id: string }) => id));
  }
  await workThrough(createCrowd(MAKERS), ids, async (id, ask) => {
    await ask('POST', `${server.url}/api/instances/${id}/plan`, KEY, '{"to":"suspended"}');
  });
  return ids;
}
