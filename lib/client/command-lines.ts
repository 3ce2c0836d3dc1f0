/**
 * Which command of the command line does what a call does. A call that a command cannot do as it is has none. Pure;
 * safe for the browser; a test holds each line against the commands themselves.
 */
import { type CallName, givenEntries, pathValue, type SampleCall, shellWord } from './call-text.ts';

interface CommandLine {
  words: string;
  /** Path parameters, or members of the body or the query with a dot before them, as arguments in their order. */
  args?: readonly string[];
  /** Options by the member of the body or the query that they give. */
  options?: Readonly<Record<string, string>>;
  /** Options that give what the path names, by its parameter. */
  named?: Readonly<Record<string, string>>;
  /** Members of the body that the command asks for, and no option takes. */
  asked?: readonly string[];
  /** Options that are always there. */
  always?: readonly string[];
}

const REASON = { reason: '--reason' };
const PAGE = { limit: '--limit' };
const LOG_LINES = { ...PAGE, ...REASON, q: '--search', level: '--level', source: '--source' };
const AT = { at: '--at' };
const THRESHOLDS = {
  hot_to_warm_s: '--hot-to-warm',
  idle_to_suspend_s: '--idle-to-suspend',
  idle_to_freeze_s: '--idle-to-freeze',
};
const SANDBOX = {
  name: '--name',
  policy: '--policy',
  labels: '--label',
  keep_hot: '--keep-hot',
  replicate: '--replicate',
  ...THRESHOLDS,
};
const SCHEDULE = ['id', 'schedule'];
const TERMINAL = ['id', 'terminal'];
const WORKBOOK = { tenant: '--tenant', version: '--version' };
const SECRET = {
  words: 'secrets set',
  args: ['name'],
  options: { url: '--address', header: '--header', format: '--format' },
  asked: ['value'],
};

const COMMANDS: Partial<Record<CallName, CommandLine>> = {
  listInstances: {
    words: 'list',
    options: {
      ...PAGE,
      tenant: '--tenant',
      state: '--state',
      thermal: '--thermal',
      fault: '--fault',
      pending: '--pending',
      name: '--name',
      q: '--search',
      sort: '--sort',
    },
  },
  createInstance: {
    words: 'create',
    args: ['.id'],
    options: { tenant: '--tenant', ...SANDBOX, ephemeral: '--ephemeral', workbook: '--workbook' },
  },
  listBackups: { words: 'backups list', options: { ...PAGE, state: '--state' } },
  getBackup: { words: 'backups show', args: ['id'] },
  makeBackup: { words: 'backups make', options: REASON },
  verifyBackup: { words: 'backups verify', args: ['id'] },
  backupSettings: { words: 'backups settings' },
  attention: { words: 'attention list', options: { tenant: '--tenant' } },
  acknowledge: { words: 'attention ack', args: ['id'], options: { ...REASON, until: '--until' } },
  unacknowledge: { words: 'attention reopen', args: ['id'] },
  listHosts: { words: 'hosts list' },
  getHost: { words: 'hosts show', args: ['name'] },
  drainHost: { words: 'hosts drain', args: ['name'], options: { ...REASON, include_held: '--include-held' } },
  stopDraining: { words: 'hosts drain', args: ['name'], always: ['--stop'] },
  getInstance: { words: 'show', args: ['id'] },
  patchInstance: { words: 'set', args: ['id'], options: SANDBOX },
  deleteInstance: { words: 'delete', args: ['id'], options: REASON, always: ['--yes'] },
  resumeInstance: { words: 'resume', args: ['id'], options: { ...REASON, force: '--force', policy: '--policy' } },
  suspendInstance: { words: 'suspend', args: ['id'], options: { ...REASON, force: '--force' } },
  freezeInstance: { words: 'freeze', args: ['id'], options: { ...REASON, force: '--force' } },
  archiveInstance: { words: 'archive', args: ['id'], options: { ...REASON, force: '--force' } },
  reviveInstance: { words: 'revive', args: ['id'], options: { ...REASON, force: '--force' } },
  settleInstance: { words: 'settle', args: ['id'] },
  execInInstance: {
    words: 'exec',
    args: ['id', '.command'],
    options: { cwd: '--cwd', env: '--env', timeout_ms: '--timeout' },
  },
  evalInInstance: {
    words: 'eval',
    args: ['id', '.code'],
    options: { language: '--language', timeout_ms: '--timeout' },
  },
  listMoments: { words: 'moments', args: ['id'], options: { ...PAGE, around: '--around' } },
  nameMoment: { words: 'moments', args: ['id'], named: { name: '--name' }, options: { time: '--at' } },
  removeMoment: { words: 'moments', args: ['id'], named: { name: '--remove' } },
  undoRestore: { words: 'undo', args: ['id'], options: REASON, always: ['--yes'] },
  listVolumes: { words: 'files ls', args: ['id'], options: AT },
  getFile: { words: 'files get', args: ['id', 'file'], options: AT },
  deleteFile: { words: 'files rm', args: ['id', 'file'] },
  takeSnapshot: { words: 'snapshot', args: ['id'], options: { tag: '--tag' } },
  listSnapshots: {
    words: 'snapshots list',
    options: { ...PAGE, tenant: '--tenant', tag: '--tag', source: '--source' },
  },
  getSnapshot: { words: 'snapshots show', args: ['id'] },
  deleteSnapshot: { words: 'snapshots delete', args: ['id'], always: ['--yes'] },
  restoreSnapshot: {
    words: 'restore',
    args: ['id'],
    options: { count: '--count', name: '--name', start: '--start', tenant: '--tenant', policy: '--policy' },
  },
  createBlueprint: {
    words: 'blueprints create',
    args: ['.name'],
    options: { from_instance: '--from', replicate: '--replicate' },
  },
  listBlueprints: { words: 'blueprints list', options: PAGE },
  getBlueprint: { words: 'blueprints show', args: ['name'] },
  deleteBlueprint: { words: 'blueprints delete', args: ['name'], always: ['--yes'] },
  cloneBlueprint: {
    words: 'clone',
    args: ['name'],
    options: { count: '--count', name: '--name', start: '--start', tenant: '--tenant' },
  },
  getInstanceLineage: { words: 'lineage', args: ['id'] },
  getSnapshotLineage: { words: 'lineage', args: ['id'], always: ['--of', 'snapshot'] },
  getBlueprintLineage: { words: 'lineage', args: ['name'], always: ['--of', 'blueprint'] },
  shipInstance: { words: 'ship', args: ['id'], options: { include_private: '--include-private', ...REASON } },
  checkoutInstance: { words: 'checkout', args: ['id'] },
  listShares: { words: 'shares', options: { ...PAGE, tenant: '--tenant', instance: '--sandbox' } },
  listWorkbooks: { words: 'workbook list', options: { ...PAGE, tenant: '--tenant', q: '--search' } },
  getWorkbook: { words: 'workbook get', args: ['id'], options: WORKBOOK },
  deleteWorkbook: { words: 'workbook delete', args: ['id'], options: { tenant: '--tenant' }, always: ['--yes'] },
  getWorkbookPlan: { words: 'workbook plan', args: ['id'], options: WORKBOOK },
  listWorkbookVersions: { words: 'workbook versions', args: ['id'], options: { ...PAGE, tenant: '--tenant' } },
  checkWorkbookUpgrade: {
    words: 'workbook check-upgrade',
    args: ['id'],
    options: { tenant: '--tenant', from: '--from', to: '--to' },
  },
  callComponent: {
    words: 'workbook call',
    args: ['id', 'component'],
    options: { input: '--input', timeout_ms: '--timeout' },
  },
  callWorkflow: {
    words: 'workbook call',
    args: ['id'],
    options: { input: '--input', world: '--world', timeout_ms: '--timeout' },
  },
  rawInstance: { words: 'raw', args: ['id'] },
  salvageInstance: { words: 'salvage', args: ['id'], options: { id: '--id', name: '--name', ...REASON } },
  restoreInstance: {
    words: 'restore-in-place',
    args: ['id', '.snapshot'],
    options: { time: '--at', ...REASON },
    always: ['--yes'],
  },
  instanceFromMoment: {
    words: 'from-moment',
    args: ['id', '.time'],
    options: { name: '--name', tenant: '--tenant', ...REASON },
  },
  listJobs: { words: 'jobs list', options: { ...PAGE, state: '--state' } },
  getJob: { words: 'jobs show', args: ['id'] },
  listJobResults: { words: 'jobs results', args: ['id'], options: { ...PAGE, outcome: '--outcome' } },
  cancelJob: { words: 'jobs cancel', args: ['id'] },
  listSchedules: { words: 'schedule list', args: ['id'], options: PAGE },
  createSchedule: {
    words: 'schedule add',
    args: ['id', '.command'],
    options: {
      cron: '--cron',
      timezone: '--timezone',
      component: '--component',
      input: '--input',
      repeat: '--repeat',
      missed: '--missed',
      paused: '--paused',
    },
  },
  deleteSchedule: { words: 'schedule remove', args: SCHEDULE },
  runSchedule: { words: 'schedule run', args: SCHEDULE },
  listScheduleRuns: { words: 'schedule history', args: SCHEDULE, options: PAGE },
  listTenants: { words: 'tenants list', options: { ...PAGE, q: '--search' } },
  getTenant: { words: 'tenants show', args: ['tenant'] },
  patchTenant: {
    words: 'tenants set',
    args: ['tenant'],
    options: {
      max_sandboxes: '--max-sandboxes',
      max_active: '--max-active',
      max_bytes: '--max-bytes',
      max_daily_cpu_s: '--max-daily-cpu',
      max_call_s: '--max-call',
      max_run_s: '--max-run',
      replicate: '--replicate',
      ...THRESHOLDS,
    },
  },
  forgetTenant: { words: 'tenants forget', args: ['tenant'], options: { dry_run: '--dry-run', confirm: '--confirm' } },
  instanceEnv: { words: 'env list', named: { id: '--sandbox' } },
  tenantEnv: { words: 'env list', named: { tenant: '--tenant' } },
  blueprintEnv: { words: 'env list', named: { name: '--blueprint' } },
  instanceSecrets: { words: 'secrets list', named: { id: '--sandbox' } },
  setInstanceSecret: { ...SECRET, named: { id: '--sandbox' } },
  deleteInstanceSecret: { words: 'secrets remove', args: ['name'], named: { id: '--sandbox' } },
  tenantSecrets: { words: 'secrets list', named: { tenant: '--tenant' } },
  setTenantSecret: { ...SECRET, named: { tenant: '--tenant' } },
  deleteTenantSecret: { words: 'secrets remove', args: ['name'], named: { tenant: '--tenant' } },
  listEvents: {
    words: 'events',
    options: {
      ...PAGE,
      tenant: '--tenant',
      instance: '--sandbox',
      type: '--type',
      actor: '--actor',
      trigger: '--trigger',
    },
  },
  streamEvents: { words: 'events', options: { tenant: '--tenant', instance: '--sandbox' }, always: ['--follow'] },
  exportEvents: {
    words: 'ledger export',
    options: { format: '--format', tenant: '--tenant', instance: '--sandbox', type: '--type' },
  },
  getLedgerHead: { words: 'ledger head' },
  verifyLedger: { words: 'ledger verify' },
  listLedgerSegments: { words: 'ledger segments' },
  exportLedgerSegment: { words: 'ledger segment', args: ['id'] },
  me: { words: 'whoami' },
  people: { words: 'people list' },
  invitations: { words: 'people invitations' },
  invite: { words: 'people invite', options: { role: '--role', email: '--email', tenants: '--tenants' } },
  withdrawInvitation: { words: 'people withdraw', args: ['id'] },
  patchPerson: { words: 'people set', args: ['id'], options: { name: '--name', role: '--role', tenants: '--tenants' } },
  sessionsOf: { words: 'people sessions', args: ['id'] },
  endSession: { words: 'people sign-out', args: ['id'], options: { session: '--session' } },
  listKeys: { words: 'keys list' },
  createKey: { words: 'keys create', args: ['.name'], options: { role: '--role', tenant: '--tenant' } },
  revokeKey: { words: 'keys revoke', args: ['id'] },
  getSettings: { words: 'settings show' },
  patchSettings: { words: 'settings set', options: THRESHOLDS },
  prefetchInstance: { words: 'prefetch', args: ['id'] },
  getPlan: { words: 'plan', args: ['id', '.to'] },
  walkPlan: {
    words: 'plan',
    args: ['id', '.to'],
    options: { ...REASON, force: '--force' },
    always: ['--run', '--yes'],
  },
  startRun: {
    words: 'run',
    args: ['id', '.command'],
    options: { cwd: '--cwd', env: '--env', timeout_ms: '--timeout' },
    always: ['--detach'],
  },
  listRuns: { words: 'runs', args: ['id'], options: PAGE },
  listInstanceLogs: { words: 'logs', args: ['id'], options: LOG_LINES },
  listTenantLogs: { words: 'logs', named: { tenant: '--tenant' }, options: LOG_LINES },
  getRunOutput: { words: 'logs', args: ['id', 'run'] },
  stopRun: { words: 'stop-run', args: ['id', 'run'] },
  listTerminals: { words: 'terminals list', args: ['id'] },
  openTerminal: { words: 'terminals open', args: ['id'] },
  closeTerminal: { words: 'terminals close', args: TERMINAL },
  streamTerminal: { words: 'terminals show', args: TERMINAL },
  typeInTerminal: { words: 'terminals type', args: [...TERMINAL, '.text'], options: { language: '--language' } },
  interruptTerminal: { words: 'terminals interrupt', args: TERMINAL },
  clearTerminal: { words: 'terminals clear', args: TERMINAL },
  queryFiles: { words: 'query', args: ['id', '.sql', '.params'] },
  compare: { words: 'files compare', args: ['id', '.snapshot'], named: { volume: '--volume' }, options: PAGE },
  instanceLife: { words: 'life', args: ['id'] },
  instanceUsage: { words: 'usage', args: ['id'], options: { step: '--step' } },
  tenantUsage: { words: 'usage', named: { tenant: '--tenant' }, options: { step: '--step' } },
  serverUsage: { words: 'usage', options: { step: '--step' } },
  instanceLoad: { words: 'load', args: ['id'], options: { step: '--step' } },
  tenantLoad: { words: 'load', named: { tenant: '--tenant' }, options: { step: '--step' } },
  serverLoad: { words: 'load', options: { step: '--step' } },
  listInstanceShares: { words: 'shares', named: { id: '--sandbox' }, options: PAGE },
  listInstanceEvents: { words: 'events', named: { id: '--sandbox' }, options: { ...PAGE, type: '--type' } },
  getSchedule: { words: 'schedule show', args: SCHEDULE },
  instanceNetwork: { words: 'network show', args: ['id'] },
  tenantNetwork: { words: 'network list', named: { tenant: '--tenant' } },
  listWebhooks: { words: 'webhook list', options: { tenant: '--tenant' } },
  createWebhook: {
    words: 'webhook add',
    args: ['.url'],
    options: { name: '--name', tenant: '--tenant', types: '--types' },
  },
  getWebhook: { words: 'webhook show', args: ['id'] },
  deleteWebhook: { words: 'webhook remove', args: ['id'] },
  rotateWebhookSecret: { words: 'webhook rotate', args: ['id'] },
  testWebhook: { words: 'webhook test', args: ['id'] },
  listWebhookDeliveries: { words: 'webhook deliveries', args: ['id'], options: { ...PAGE, state: '--state' } },
  resendDelivery: { words: 'webhook resend', args: ['id', 'delivery'] },
  wakeTimes: { words: 'wakes', options: { days: '--days' } },
  previewThresholds: { words: 'settings preview', options: { tenant: '--tenant', ...THRESHOLDS } },
  simulate: {
    words: 'settings simulate',
    options: {
      tenant: '--tenant',
      idle_to_suspend_s: '--idle-to-suspend',
      idle_to_freeze_s: '--idle-to-freeze',
      days: '--days',
    },
  },
  storage: { words: 'storage show' },
  checkStorage: { words: 'storage check', args: ['.what'] },
  readiness: { words: 'health' },
  metrics: { words: 'metrics' },
};

/** One option with its value, or null when the command cannot say it. */
function optionWords(option: string, name: string, value: unknown): string[] | null {
  if (value === true) return [option];
  if (value === null || value === false) return null;
  if (option === '--input') return [option, JSON.stringify(value)];
  if (name === 'timeout_ms') return Number(value) % 1000 === 0 ? [option, String(Number(value) / 1000)] : null;
  if (Array.isArray(value)) return [option, value.join(',')];
  if (typeof value === 'object') return Object.entries(value).flatMap(([key, each]) => [option, `${key}=${each}`]);
  return [option, String(value)];
}

/** The name of the command that does a call, whatever is asked of it; null for a call that needs other words. */
export function commandNameOf(name: CallName): string | null {
  return COMMANDS[name]?.words ?? null;
}

/** The words of the command that does the call, after `winterdock`; null when none does exactly that. */
export function commandWords(call: SampleCall): string[] | null {
  const command = COMMANDS[call.name];
  if (command === undefined) return null;
  const { words, args = [], options = {}, always = [], named = {}, asked = [] } = command;
  const body = typeof call.body === 'object' && call.body !== null ? (call.body as Record<string, unknown>) : {};
  const members = args.filter((arg) => arg.startsWith('.')).map((arg) => arg.slice(1));
  const optional = [...always, ...Object.entries(named).flatMap(([name, option]) => [option, pathValue(call, name)])];
  for (const [name, value] of [...givenEntries(body), ...givenEntries(call.query)]) {
    if (members.includes(name) || asked.includes(name)) continue;
    const option = options[name];
    const text = option === undefined ? null : optionWords(option, name, value);
    if (text === null) return null;
    optional.push(...text);
  }
  const positional = args.flatMap((arg) => {
    if (arg === 'file') return [`/${pathValue(call, 'volume')}/${pathValue(call, 'path').replace(/^\//, '')}`];
    if (!arg.startsWith('.')) return [pathValue(call, arg)];
    const value = body[arg.slice(1)] ?? call.query?.[arg.slice(1)];
    return value === undefined ? [] : [value].flat().map(String);
  });
  return [...words.split(' '), ...optional, ...positional];
}

/** The call as a command line, or null when no command does exactly that. */
export function commandText(call: SampleCall): string | null {
  const words = commandWords(call);
  return words === null ? null : ['npx winterdock', ...words.map(shellWord)].join(' ');
}
