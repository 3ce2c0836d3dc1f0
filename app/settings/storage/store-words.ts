/** The state of the store in sentences. Pure. */
import { lengthInWords, sizeInWords } from '#components/ui/durations.ts';
import type { Storage } from '#lib/contract/schema.ts';

type Leaving = NonNullable<NonNullable<Storage['store']>['leaving']>;

/** A count with separators, as tables have it. */
export const figures = (count: number) => count.toLocaleString('en');
const counted = (count: number, one: string, many: string) => `${figures(count)} ${count === 1 ? one : many}`;

/** What is wrong now, the worst first; empty when nothing is. */
export function troublesOf({ registry, drawers, store, replication, disk, places, memory, scrub }: Storage): string[] {
  const troubles: string[] = [];
  if (registry.check?.ok === false) troubles.push(`The registry did not pass its check: ${registry.check.says}`);
  for (const { drawer, writable } of drawers)
    if (!writable)
      troubles.push(`The ${drawer} drawer cannot be reached: nothing is filed there or brought back from it.`);
  if (store?.away) troubles.push(`The object store is away: ${store.away.why}. What is on this machine works on.`);
  const come = store?.leaving?.done === false ? store.leaving.bytes.left - store.cache.bytes : 0;
  if (come > disk.free_bytes && drawers.every(({ same_disk }) => same_disk))
    troubles.push(
      `${sizeInWords(come)} are to come from the store, and the disk has ${sizeInWords(disk.free_bytes)} left.`,
    );
  if (replication?.away)
    troubles.push(`The replica is away: ${replication.away.why}. What is committed waits on this disk.`);
  else if (replication?.spool.refused)
    troubles.push(
      `The spool of the replica takes nothing: ${replication.spool.refused.why}. What is committed waits in its own logs.`,
    );
  else if (replication?.late)
    troubles.push(
      `${counted(replication.late.sandboxes, 'sandbox is', 'sandboxes are')} more behind in the replica than promised.`,
    );
  const rotten = Math.max(scrub.walk?.rotten ?? 0, scrub.last?.rotten ?? 0);
  if (rotten > 0)
    troubles.push(`${counted(rotten, 'file is', 'files are')} no longer what was filed: the disk loses bytes.`);
  const share = disk.bytes === 0 ? 1 : disk.free_bytes / disk.bytes;
  if (share < 0.1) troubles.push(`The disk is nearly full: ${sizeInWords(disk.free_bytes)} are left.`);
  if (places.serving >= places.most)
    troubles.push('Every place for a process is taken: wakes are refused with capacity.');
  if (memory.limit_bytes !== null && memory.serving_bytes > memory.limit_bytes)
    troubles.push(
      'The processes of sandboxes take more memory than allowed: idle ones are suspended, running calls go on.',
    );
  return troubles;
}

/** At how many processes wakes are refused. */
export function placesInWords({ serving, most }: Storage['places']): string {
  const left = Math.max(0, most - serving);
  if (left === 0) return `All ${figures(most)} are taken: every further wake is refused with capacity.`;
  const free =
    left === most ? `All ${figures(most)} places are free` : `${figures(left)} of ${figures(most)} places are free`;
  return `${free}. A wake is refused with capacity once none is.`;
}

/** How many of the spare processes are meant to be there: more are while sandboxes wake one after another. */
export function aheadInWords({ ahead }: Pick<Storage['places'], 'ahead'>): string {
  return ahead === 0 ? 'ready; none is kept ahead of need' : `ready; ${figures(ahead)} kept ahead of need`;
}

/** What happens when the memory for processes runs short. */
export function memoryInWords({ limit_bytes: limit }: Storage['memory']): string {
  return limit === null
    ? 'The memory of all processes together has no limit.'
    : 'When memory runs short, the idle sandbox that was used longest ago is suspended; when none can be, a wake is refused with capacity.';
}

/** How tenants share the processors. */
export function sharingInWords({ shared_by: by }: Storage['cpu']): string {
  const how =
    by === 'priorities' ? 'priority' : `the weight of its control group (cgroup ${by === 'cgroup_v2' ? 'v2' : 'v1'})`;
  return `A tenant that wants more than half of the processors gives way by ${how}.`;
}

const HELD: Readonly<Record<Storage['walls'][number]['wall'], string>> = {
  net: 'No network, each apart',
  uid: 'A user of their own',
  caps: 'No capabilities',
  files: 'No files but their own and their code',
  pid: 'No other processes, and none left behind',
  ipc: 'No memory or queues of others',
  seccomp: 'Only the system calls they need',
};

/** What stands around the processes of sandboxes, and why something does not. */
export function wallsInWords(walls: Storage['walls']) {
  return walls.map(({ wall, missing }) => ({ wall, holds: HELD[wall], missing }));
}

/** The files of a drawer compared with its rows. */
export function comparedInWords(files: number, rows: number): string {
  if (files === rows) return 'as many files as rows';
  if (files > rows) return `${counted(files - rows, 'file', 'files')} more than rows`;
  return `${counted(rows - files, 'file is', 'files are')} missing`;
}

/** How many files a scrub compared, with the result: `1,204 files of 3.1 GB, all as they were filed`. */
export function comparedByPass({ files, bytes, rotten }: NonNullable<Storage['scrub']['walk']>): string {
  const found = rotten === 0 ? 'all as they were filed' : `${figures(rotten)} no longer as filed`;
  return files === 0 ? 'no file yet' : `${counted(files, 'file', 'files')} of ${sizeInWords(bytes)}, ${found}`;
}

/** What a backup holds: `1,204 sandboxes of 3.1 GB`. */
export function backupInWords({ sandboxes, bytes }: NonNullable<Storage['backup']>): string {
  return `${counted(sandboxes, 'sandbox', 'sandboxes')} of ${sizeInWords(bytes)}`;
}

/** How many items of a backup were not sound when they were copied. */
export function wrongInWords(wrong: number): string {
  return `${counted(wrong, 'of them was', 'of them were')} not sound`;
}

/** What waits for its upload: `3 files wait, 1 is on its way`. */
export function uploadsInWords({ queued, running }: NonNullable<Storage['store']>['uploads']): string {
  if (queued + running === 0) return 'nothing waits: everything at rest is stored';
  const waiting = queued === 0 ? 'none waits' : `${counted(queued, 'file waits', 'files wait')}`;
  return running === 0 ? waiting : `${waiting}, ${counted(running, 'is on its way', 'are on their way')}`;
}

/** Files that are still to come from the store. */
export function leftOfAll({ sandboxes, copies }: Pick<Leaving, 'sandboxes' | 'copies'>): number {
  return sandboxes.left + copies.left;
}

/** When filing answers. */
export function ackInWords(ack: NonNullable<Storage['store']>['ack']): string {
  return ack === 'stored'
    ? 'Freezing and archiving answer once the file is whole in the store.'
    : 'Freezing and archiving answer at once; the upload follows.';
}

/** What each folder of the data directory is for. */
export const DRAWER_MEANS: Readonly<Record<string, string>> = {
  live: 'awake and suspended sandboxes',
  cold: 'frozen sandboxes',
  archive: 'archived sandboxes, compressed',
  snapshots: 'snapshots, each content once',
  blueprints: 'blueprints, each content once',
  orphans: 'set aside: no row troubles that they belong where they were',
  cache: 'compiled code; made anew when it is gone',
  expanded: 'copies for reading the archive; emptied at every start',
  staging: 'unfinished work; emptied at every start',
  bundles: 'bundles being uploaded or downloaded',
  other: 'the registry, the ledger’s head, keys',
};

/** The largest lag of the sandboxes that are awake and replicated. */
export function lagInWords({ open, max_s: most }: NonNullable<Storage['replication']>['lag']): string {
  if (open === 0) return 'none: no sandbox that is replicated is awake';
  if (most === 0) return 'none: all that was committed is there';
  return most < 90 ? `${most.toFixed(1)} s` : lengthInWords(most);
}

/** What is promised where nothing else is set. */
export function promiseInWords(replicate: string): string {
  if (replicate === 'off') return 'Where nothing else is set, nothing is replicated.';
  if (replicate === 'filed') return 'Where nothing else is set, each state at rest is shipped, in the background.';
  if (replicate === 'sync') return 'Where nothing else is set, an answer waits until the replica has what it says.';
  return `Where nothing else is set, what is committed is shipped within ${replicate.slice(0, -1)} s.`;
}

/** What is written to the replica in a month, as it was since the start. `size`: bytes in words. */
export function monthInWords(
  month: NonNullable<Storage['replication']>['month'],
  size: (bytes: number) => string,
): string {
  if (month === null) return 'known ten minutes after a start';
  return `about ${counted(month.requests, 'request', 'requests')} and ${size(month.bytes)}, as since the start`;
}

/** What the replica keeps of which age: `commits=24h,minutes=7d,hours=30d,filings=365d` in words. */
export function retentionInWords(retention: string): string {
  const times = new Map(retention.split(',').map((part) => part.split('=') as [string, string]));
  const [commits, minutes, hours, filings] = ['commits', 'minutes', 'hours', 'filings'].map((grain) => {
    const time = times.get(grain) ?? '';
    return `${time.slice(0, -1)} ${time.endsWith('h') ? 'hours' : 'days'}`;
  });
  return `every moment for ${commits}, one of each minute for ${minutes}, one of each hour for ${hours}, the last state of each day for ${filings}`;
}
