/**
 * The examples of the OpenAPI document, by the name of the operation: run as they stand, they make one sandbox and work
 * with it. Knows nothing of routes; a test runs them all.
 */

/** What to send, where it is not what every operation's example has in common. */
export interface Example {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number>>;
  /** The JSON body. */
  body?: unknown;
  /** The body of an operation that takes bytes. */
  text?: string;
}

/** The sandbox of the examples. Ids are never used again, so the explorer puts one of its own in this one's place. */
export const EXAMPLE_ID = 'explorer-demo';

const PATH: Readonly<Record<string, string>> = {
  id: EXAMPLE_ID,
  volume: 'workspace',
  path: 'hello.txt',
  name: EXAMPLE_ID,
  attachment: 'explorer-terminal',
};

/** A placeholder for an id from an earlier answer. */
const SNAPSHOT = { id: 'id-of-a-snapshot' };
const MOMENT = { name: 'before the migration' };
const JOB = { id: 'id-of-a-job' };
const SCHEDULE = { schedule: 'id-of-a-schedule' };
const RUN = { run: 'id-of-a-run' };
const TERMINAL = { terminal: 'id-of-a-terminal' };
const TENANT = { tenant: 'acme' };
const SECRET = { name: 'API_TOKEN' };
const BACKUP = { id: 'id-of-a-backup' };
const TROUBLE = { id: 'backup:none' };
const HOST = { name: 'name-of-a-host' };
const WEBHOOK = { id: 'id-of-a-webhook' };

const EXAMPLES: Readonly<Record<string, Example>> = {
  createInstance: {
    body: {
      id: EXAMPLE_ID,
      tenant: 'acme',
      name: `Made in the explorer: ${EXAMPLE_ID}`,
      labels: { made_by: 'explorer' },
    },
  },
  patchInstance: { body: { labels: { made_by: 'explorer', seen: 'yes' }, idle_to_suspend_s: 600 } },
  resumeInstance: { body: { reason: 'trying the explorer' } },
  suspendInstance: { body: { reason: 'trying the explorer' } },
  freezeInstance: { body: { reason: 'trying the explorer' } },
  archiveInstance: { body: { reason: 'trying the explorer' } },
  reviveInstance: { body: { reason: 'trying the explorer' } },
  deleteInstance: { body: { reason: 'trying the explorer' } },
  execInInstance: {
    body: {
      command:
        'echo "kept for the winter" > note.txt && cat note.txt && sqlite3 store.db "CREATE TABLE apples (sort TEXT, kilos REAL); INSERT INTO apples VALUES (\'Boskoop\', 12.5)" && ls -l',
    },
  },
  startRun: { body: { command: 'for n in 1 2 3; do echo "$n"; sleep 1; done' } },
  getRun: { path: RUN },
  getRunOutput: { path: RUN },
  stopRun: { path: RUN },
  typeInTerminal: { path: TERMINAL, body: { text: 'ls -l' } },
  streamTerminal: { path: TERMINAL },
  interruptTerminal: { path: TERMINAL },
  closeTerminal: { path: TERMINAL },
  completeLine: { body: { line: 'cat n' } },
  patchInstanceEnv: { body: { env: { STAGE: 'test', OLD_NAME: null } } },
  tenantEnv: { path: TENANT },
  tenantSecrets: { path: TENANT },
  patchTenantEnv: { path: TENANT, body: { env: { TZ: 'UTC' } } },
  patchBlueprintEnv: { body: { env: { STAGE: 'base' } } },
  setInstanceSecret: { path: SECRET, body: { value: 'the-token-itself', url: 'https://api.example.com/v1/' } },
  deleteInstanceSecret: { path: SECRET },
  setTenantSecret: {
    path: { ...TENANT, ...SECRET },
    body: { value: 'the-key-itself', url: 'https://models.example.com/', header: 'x-api-key', format: '{}' },
  },
  deleteTenantSecret: { path: { ...TENANT, ...SECRET } },
  createWebhook: {
    body: { name: 'Faults', url: 'https://hooks.example.com/winterdock', types: ['fault.raised', 'exec.refused'] },
  },
  getWebhook: { path: WEBHOOK },
  patchWebhook: { path: WEBHOOK, body: { enabled: false } },
  deleteWebhook: { path: WEBHOOK },
  rotateWebhookSecret: { path: WEBHOOK },
  testWebhook: { path: WEBHOOK },
  listWebhookDeliveries: { path: WEBHOOK },
  evalInInstance: { body: { language: 'js', code: '[1, 2, 3].map((n) => n * n)' } },
  compare: { query: { snapshot: SNAPSHOT.id } },
  listTables: { query: { path: '/store.db' } },
  listRows: { query: { path: '/store.db', table: 'apples' } },
  putFile: { text: 'hello from the explorer\n' },
  moveFile: { body: { from: '/note.txt', to: '/notes/winter.txt' } },
  takeBack: { body: { path: '/notes', moment: MOMENT.name, reason: 'trying the explorer' } },
  makeFolder: { body: { path: '/notes/spring' } },
  deleteFolder: { query: { path: '/notes/spring' } },
  searchFiles: { query: { q: 'hello', in: 'content' } },
  queryFiles: {
    body: {
      sql: 'SELECT volume, path, length(content) AS bytes FROM vfs WHERE volume = ? ORDER BY path',
      params: ['workspace'],
    },
  },
  takeSnapshot: { body: { tag: `of ${EXAMPLE_ID}` } },
  getSnapshot: { path: SNAPSHOT },
  getSnapshotLineage: { path: SNAPSHOT },
  restoreSnapshot: { path: SNAPSHOT, body: { count: 2, name: `Restored from ${EXAMPLE_ID}` } },
  deleteSnapshot: { path: SNAPSHOT },
  salvageInstance: { body: { name: `Salvaged from ${EXAMPLE_ID}`, reason: 'trying the explorer' } },
  restoreInstance: { body: { snapshot: SNAPSHOT.id, reason: 'trying the explorer' } },
  nameMoment: { path: MOMENT, body: { reason: 'trying the explorer' } },
  removeMoment: { path: MOMENT },
  undoRestore: { body: { reason: 'trying the explorer' } },
  instanceFromMoment: { body: { time: 1_800_000_000, name: `As ${EXAMPLE_ID} was`, reason: 'trying the explorer' } },
  getPlan: { query: { to: 'deleted' } },
  walkPlan: { body: { to: 'frozen', reason: 'trying the explorer' } },
  startJob: {
    body: {
      verb: 'label',
      filter: { label: 'made_by:explorer' },
      labels: { tried: 'yes' },
      reason: 'trying the explorer',
    },
  },
  getJob: { path: JOB },
  listJobResults: { path: JOB },
  cancelJob: { path: JOB },
  createSchedule: { body: { cron: '0 3 * * *', timezone: 'Europe/Berlin', command: 'date >> nightly.log' } },
  getSchedule: { path: SCHEDULE },
  patchSchedule: { path: SCHEDULE, body: { paused: true } },
  runSchedule: { path: SCHEDULE },
  listScheduleRuns: { path: SCHEDULE },
  deleteSchedule: { path: SCHEDULE },
  getTenant: { path: { tenant: 'acme' } },
  listTenantLogs: { path: { tenant: 'acme' } },
  tenantUsage: { path: { tenant: 'acme' } },
  tenantLoad: { path: { tenant: 'acme' } },
  exportTenantLoad: { path: { tenant: 'acme' } },
  patchTenant: { path: { tenant: 'acme' }, body: { max_sandboxes: 100_000 } },
  putTenantNetwork: {
    path: { tenant: 'acme' },
    body: { rules: [{ url: 'https://api.example.com/v1/', methods: ['GET', 'POST'] }] },
  },
  tenantNetwork: { path: { tenant: 'acme' } },
  putInstanceNetwork: { body: { rules: [{ url: 'https://api.example.com/v1/things/' }] } },
  forgetTenant: { path: { tenant: 'acme' }, body: { dry_run: true } },
  previewThresholds: { body: { idle_to_suspend_s: 600 } },
  simulate: { body: { idle_to_suspend_s: 600, days: 7, curve: [300, 600, 900, 3600] } },
  checkStorage: { body: { what: 'registry' } },
  makeBackup: { body: { reason: 'before the upgrade' } },
  getBackup: { path: BACKUP },
  verifyBackup: { path: BACKUP },
  restoreBackup: { path: BACKUP, body: { instance: EXAMPLE_ID, as: `${EXAMPLE_ID}-before`, dry_run: true } },
  putBackupSettings: { body: { cron: '15 * * * *', keep: { hourly: 24, daily: 14, weekly: 8, monthly: 12 } } },
  acknowledge: { path: TROUBLE, body: { reason: 'the first backup is made tonight' } },
  unacknowledge: { path: TROUBLE },
  getHost: { path: HOST },
  patchHost: { path: HOST, body: { labels: { zone: 'a', disk: 'fast' } } },
  drainHost: { path: HOST, body: { reason: 'a new disk' } },
  stopDraining: { path: HOST },
  createBlueprint: { body: { name: EXAMPLE_ID, from_instance: EXAMPLE_ID } },
  cloneBlueprint: { body: { tenant: 'acme', count: 2, name: `Cloned from ${EXAMPLE_ID}` } },
  exportEvents: { query: { format: 'jsonl' } },
  exportLedgerSegment: { path: { id: '2026-01' } },
  changePassword: { body: { current: 'the password you have now', next: 'the password you want' } },
  invite: { body: { role: 'viewer' } },
  withdrawInvitation: { path: { id: 'id-of-an-invitation' } },
  patchPerson: { path: { id: 'id-of-a-person' }, body: { role: 'viewer' } },
  sessionsOf: { path: { id: 'me' } },
  endSession: { path: { id: 'me' }, query: { session: 'id-of-a-session' } },
  createKey: { body: { name: `Made in the explorer: ${EXAMPLE_ID}`, role: 'viewer' } },
  revokeKey: { path: { id: 'id-of-a-key' } },
  sendMcpMessage: { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  patchSettings: { body: { hot_to_warm_s: 30, idle_to_suspend_s: 900 } },
};

/** The example of an operation: its own, and what the parameters of its path have in common. */
export function exampleOf(operation: string): Example {
  const own = Object.hasOwn(EXAMPLES, operation) ? EXAMPLES[operation] : undefined;
  return { ...own, path: { ...PATH, ...own?.path } };
}
