/** The pages of a harbour in trouble that are looked at: each kind of page, with what is long, empty, wrong or many. */
import { environmentOf } from './sample-data.ts';
import { visited } from './visited.ts';

const LONG = 'migration-rehearsal-with-a-very-long-identifier-0001';

/** A tenant with a fault of each kind, interrupted operations and jobs under way. */
export const STORM = 'storm';

/** `jobs`: ids of jobs that are never done. */
type NamedPath = [name: string, path: string | ((jobs: readonly string[]) => Promise<string>)];

/** By what they are about. */
export const PAGES: Record<string, NamedPath[]> = {
  'the overview and lists': [
    ['the overview', '/'],
    ['the list', '/sandboxes'],
    ['a filtered list', '/sandboxes?state=frozen&tenant=northwind&sort=name'],
    ['a list with a wrong filter', '/sandboxes?label=nothing&tenant=northwind'],
    ['an empty list', '/sandboxes?q=zzzzzz'],
  ],
  sandboxes: [
    ['a created sandbox', '/sandboxes/fresh-one'],
    ['an active sandbox', '/sandboxes/crawler-eu-west'],
    ['a suspended sandbox and a file', '/sandboxes/support-triage?volume=workspace&path=/src/index.js'],
    ['a frozen sandbox with a long name and bytes', `/sandboxes/${LONG}?volume=workspace&path=/data/model.bin`],
    ['an archived sandbox and an image', '/sandboxes/onboarding-demo?volume=workspace&path=/data/pixel.png'],
    ['a sandbox whose file is missing', '/sandboxes/intern-project'],
    ['a damaged sandbox', '/sandboxes/fraud-model-eval'],
    ['a deleted sandbox', '/sandboxes/old-experiment'],
    ['an interrupted sandbox with many labels', `/sandboxes/${STORM}-4`],
  ],
  'the parts of a sandbox': [
    ['the terminal of a sandbox', '/sandboxes/crawler-eu-west?tab=terminal'],
    ['the terminal of an archived sandbox', '/sandboxes/onboarding-demo?tab=terminal'],
    ['the time of a sandbox', '/sandboxes/support-triage?tab=time'],
    ['the ledger of a sandbox', '/sandboxes/support-triage?tab=ledger'],
    ['the snapshots of a sandbox', '/sandboxes/support-triage?tab=snapshots'],
    ['the snapshots of a damaged sandbox', '/sandboxes/fraud-model-eval?tab=snapshots'],
    ['the shares of a sandbox', `/sandboxes/${LONG}?tab=shares`],
    ['the network of a sandbox', '/sandboxes/support-triage?tab=network'],
    ['the environment of a sandbox', () => environmentOf(visited().call)],
    ['the settings of a sandbox', '/sandboxes/support-triage?tab=settings'],
    ['the many shares of a sandbox', `/sandboxes/${STORM}-0?tab=shares`],
  ],
  'settings and copies': [
    ['thresholds', '/settings/thresholds'],
    ['storage', '/settings/storage'],
    ['snapshots', '/snapshots'],
    ['snapshots with a wrong filter', '/snapshots?tenant=No'],
    ['blueprints', '/blueprints'],
    ['a blueprint', '/blueprints/release-notes'],
    ['shares', '/shares'],
    ['a snapshot with a long tag', longSnapshot],
  ],
  workbooks: [
    ['workbooks', '/workbooks'],
    ['workbooks with a wrong filter', '/workbooks?tenant=No'],
    ['a workbook', '/workbooks/orders?tenant=acme'],
    ['a workbook with problems', '/workbooks/orders-draft?tenant=acme'],
    ['an earlier version, and what changed', '/workbooks/orders?tenant=acme&version=1&from=1&to=2'],
    ['the workbook of a sandbox', '/sandboxes/support-triage?tab=workbook'],
    ['the schedules of a sandbox', '/sandboxes/support-triage?tab=schedules'],
    ['a sandbox without a workbook', '/sandboxes/notebook-q3?tab=workbook'],
  ],
  'the past, the load, the log and what needs somebody': [
    ['a sandbox without a past', '/sandboxes/fresh-one?tab=past'],
    ['a moment with a long name', () => pastOf('')],
    ['a file beside what it is now', () => pastOf('&volume=workspace&path=/src/index.js&to=now')],
    ['all that changed since a moment', () => pastOf('&to=now')],
    ['a time before all moments', '/sandboxes/release-notes-writer?tab=past&at=1000000000'],
    ['the load of an active sandbox', '/sandboxes/crawler-eu-west?tab=time'],
    ['the load of a tenant in a month', '/tenants/northwind?load=month'],
    ['what needs somebody', '/attention'],
    ['the log of a sandbox', '/sandboxes/crawler-eu-west?tab=logs'],
  ],
  'the archive, tenants, the ledger and what is under way': [
    ['the archive', '/archive'],
    ['an archive without what is looked for', '/archive?q=zzzzzz'],
    ['the tenants', '/tenants'],
    ['a tenant', '/tenants/northwind'],
    ['what would go with a tenant', '/tenants/northwind/forget'],
    ['the ledger of everything', '/audit'],
    ['a ledger with a wrong filter', '/audit?tenant=No'],
    ['what is under way', '/sandboxes?pending=stuck&due_until=4000000000'],
    ['a tenant in trouble', `/tenants/${STORM}`],
    ['the jobs', '/jobs'],
    ['what a verb would do', '/jobs/new?verb=freeze&all=1&tenant=northwind'],
    ['a plan', '/sandboxes/support-triage/plan?to=deleted'],
    ['a job under way', async ([job]) => `/jobs/${job}`],
  ],
};

async function longSnapshot(): Promise<string> {
  const [snapshot] = (await visited().call<{ id: string }[]>('GET', `/api/snapshots?source=${LONG}`)).json;
  return `/snapshots/${snapshot?.id}`;
}

/** A page of the past of a sandbox: of a moment that was named, since which some files became others. */
async function pastOf(more: string): Promise<string> {
  const { call } = visited();
  const at = '/api/instances/release-notes-writer';
  const name = 'before the great rewrite of everything-that-the-release-notes-are-made-of, as the editors have asked';
  const named = (await call<{ time_ms: number }[]>('GET', `${at}/moments?kind=named`)).json;
  const kept =
    named[0] ?? (await call<{ time_ms: number }>('PUT', `${at}/moments/${encodeURIComponent(name)}`, {})).json;
  if (named.length === 0) {
    await call('PUT', `${at}/volumes/workspace/src/index.js`, `console.log('${'a long line '.repeat(30)}');\n`);
    await call('PUT', `${at}/volumes/workspace/data/${'a-long-name-of-a-file-'.repeat(5)}.txt`, 'new');
    await call('DELETE', `${at}/volumes/workspace/src/gather.js`);
  }
  return `/sandboxes/release-notes-writer?tab=past&at=${(kept.time_ms + 0.1) / 1000}${more}`;
}
