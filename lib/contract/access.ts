/**
 * Who may do what: one table for the API, the server actions and the console's buttons. Pure and safe for the browser.
 * lib/operations/guard.ts applies it to every operation, and looks up there which tenant owns an id.
 */
import { ROLES, type Role } from '../auth/roles.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';

/** The kinds of things that belong to a tenant and are asked for by id. */
export const OWNED = ['instance', 'snapshot', 'job', 'webhook'] as const;
export type Owned = (typeof OWNED)[number];

/**
 * What a request is about, which decides whom it may concern.
 * - an `Owned` kind: the first argument is the id of one; that of another tenant answers like an unknown id
 * - `tenant`: the first argument is a tenant's name; another's answers like an unknown one
 * - `list`: the first argument is a query; without `tenant` the answer is narrowed to the caller's tenants
 * - `input`: the first argument says for which tenant
 * - `dock`: the whole dock, and nothing of any tenant
 * - `everyone`: the whole dock with all its tenants; a caller limited to some may not
 * - `person`: the first argument is a person's id or `me`; roles that are not in `others` may name only their own
 */
type Subject = Owned | 'tenant' | 'list' | 'input' | 'dock' | 'everyone' | 'person';

export interface Rule {
  roles: readonly Role[];
  about: Subject;
  /**
   * The contents that it shows or changes: those of the volume in the second argument (`named`), of the volume that the
   * input names or else of all that the caller may read (`searched`), or of all three (`all`). Absent: none.
   */
  contents?: 'named' | 'searched' | 'all';
  /** Roles that must say why: the input's `reason`. */
  reason?: readonly Role[];
  /** Members of the input that name things of tenants. */
  names?: Readonly<Record<string, Owned>>;
  /** Roles that may name other persons than themselves. */
  others?: readonly Role[];
}

const EVERYONE = ROLES;
const PEOPLE: readonly Role[] = ['admin', 'operator', 'support', 'viewer'];
const READERS: readonly Role[] = ['admin', 'operator', 'support', 'tenant'];
const WORKERS: readonly Role[] = ['admin', 'operator', 'tenant'];
/** A blueprint is every tenant's: making one shares its work with all. */
const KEEPERS: readonly Role[] = ['admin', 'operator'];
const ADMIN: readonly Role[] = ['admin'];

const look: Rule = { roles: EVERYONE, about: 'instance' };
const move: Rule = { roles: WORKERS, about: 'instance' };
const run: Rule = { roles: WORKERS, about: 'instance', contents: 'all' };

const TABLE = {
  listInstances: { roles: EVERYONE, about: 'list' },
  createInstance: { roles: WORKERS, about: 'input' },
  getInstance: look,
  patchInstance: move,
  relabelInstance: move,
  resume: move,
  prefetch: move,
  pause: move,
  suspend: move,
  freeze: move,
  archive: move,
  revive: { roles: READERS, about: 'instance', reason: ['support'] },
  settle: move,
  deleteInstance: move,
  exec: run,
  eval: run,
  startRun: run,
  listRuns: run,
  getRun: run,
  runOutput: run,
  stopRun: run,
  instanceLogs: { roles: READERS, about: 'instance', reason: ['support'] },
  listTerminals: run,
  openTerminal: run,
  closeTerminal: run,
  typeInTerminal: run,
  interruptTerminal: run,
  clearTerminal: run,
  showTerminal: run,
  completeLine: run,
  callComponent: run,
  callWorkflow: run,
  attach: run,
  detach: run,
  instanceEvents: look,
  instanceUsage: look,
  instanceLoad: look,
  instanceLife: look,
  moments: { roles: READERS, about: 'instance' },
  nameMoment: move,
  removeMoment: move,
  volumes: { roles: READERS, about: 'instance' },
  files: { roles: READERS, about: 'instance', contents: 'named' },
  file: { roles: READERS, about: 'instance', contents: 'named' },
  fileStat: { roles: READERS, about: 'instance', contents: 'named' },
  folder: { roles: READERS, about: 'instance', contents: 'named' },
  compare: { roles: READERS, about: 'instance', contents: 'named', names: { snapshot: 'snapshot' } },
  tables: { roles: READERS, about: 'instance', contents: 'named' },
  tableRows: { roles: READERS, about: 'instance', contents: 'named' },
  putFile: { roles: WORKERS, about: 'instance', contents: 'named' },
  deleteFile: { roles: WORKERS, about: 'instance', contents: 'named' },
  moveFile: { roles: WORKERS, about: 'instance', contents: 'named' },
  takeBack: { roles: WORKERS, about: 'instance', contents: 'named' },
  makeFolder: { roles: WORKERS, about: 'instance', contents: 'named' },
  deleteFolder: { roles: WORKERS, about: 'instance', contents: 'named' },
  search: { roles: READERS, about: 'instance', contents: 'searched' },
  query: run,
  takeSnapshot: move,
  listSnapshots: { roles: EVERYONE, about: 'list' },
  getSnapshot: { roles: EVERYONE, about: 'snapshot' },
  deleteSnapshot: { roles: WORKERS, about: 'snapshot' },
  restoreSnapshot: { roles: WORKERS, about: 'snapshot' },
  createBlueprint: { roles: KEEPERS, about: 'dock', names: { from_instance: 'instance' } },
  uploadBlueprint: { roles: KEEPERS, about: 'dock' },
  listBlueprints: { roles: EVERYONE, about: 'dock' },
  getBlueprint: { roles: EVERYONE, about: 'dock' },
  deleteBlueprint: { roles: KEEPERS, about: 'everyone' },
  cloneBlueprint: { roles: WORKERS, about: 'dock' },
  blueprintFiles: { roles: READERS, about: 'dock' },
  blueprintFile: { roles: READERS, about: 'dock' },
  listAgents: { roles: EVERYONE, about: 'list' },
  getAgent: { roles: EVERYONE, about: 'tenant' },
  deployAgent: { roles: WORKERS, about: 'tenant' },
  deleteAgent: { roles: WORKERS, about: 'tenant' },
  seedFromAgent: { roles: WORKERS, about: 'tenant' },
  agentFiles: { roles: READERS, about: 'tenant' },
  agentFile: { roles: READERS, about: 'tenant' },
  instanceLineage: look,
  snapshotLineage: { roles: EVERYONE, about: 'snapshot' },
  blueprintLineage: { roles: EVERYONE, about: 'dock' },
  ship: run,
  checkout: run,
  // What lies in a damaged file may be another tenant's: only roles that see both tenants may judge it.
  raw: { roles: KEEPERS, about: 'instance', contents: 'all' },
  salvage: { roles: KEEPERS, about: 'instance', contents: 'all' },
  restoreInstance: { roles: WORKERS, about: 'instance', names: { snapshot: 'snapshot' } },
  undoRestore: move,
  instanceFromMoment: move,
  shares: { roles: EVERYONE, about: 'list' },
  instanceShares: look,
  inspectBundle: { roles: READERS, about: 'dock' },
  importBundle: { roles: WORKERS, about: 'input' },
  plan: look,
  runPlan: move,
  // Ids are a tenant's own: the query says of which, and without it they are looked for among the caller's.
  listWorkbooks: { roles: EVERYONE, about: 'list' },
  getWorkbook: { roles: EVERYONE, about: 'input' },
  putWorkbook: { roles: WORKERS, about: 'input' },
  deleteWorkbook: { roles: WORKERS, about: 'input' },
  workbookPlan: { roles: EVERYONE, about: 'input' },
  workbookVersions: { roles: EVERYONE, about: 'input' },
  workbookUpgrade: { roles: EVERYONE, about: 'input' },
  planSource: { roles: EVERYONE, about: 'dock' },
  startJob: { roles: WORKERS, about: 'input' },
  listJobs: { roles: EVERYONE, about: 'list' },
  getJob: { roles: EVERYONE, about: 'job' },
  cancelJob: { roles: WORKERS, about: 'job' },
  jobResults: { roles: EVERYONE, about: 'job' },
  listSchedules: look,
  createSchedule: run,
  getSchedule: look,
  patchSchedule: run,
  deleteSchedule: run,
  runSchedule: run,
  scheduleRuns: look,
  listWebhooks: { roles: KEEPERS, about: 'list' },
  createWebhook: { roles: KEEPERS, about: 'input' },
  getWebhook: { roles: KEEPERS, about: 'webhook' },
  patchWebhook: { roles: KEEPERS, about: 'webhook' },
  deleteWebhook: { roles: KEEPERS, about: 'webhook' },
  rotateWebhookSecret: { roles: KEEPERS, about: 'webhook' },
  testWebhook: { roles: KEEPERS, about: 'webhook' },
  webhookDeliveries: { roles: KEEPERS, about: 'webhook' },
  resendDelivery: { roles: KEEPERS, about: 'webhook' },
  instanceNetwork: look,
  putInstanceNetwork: move,
  tenantNetwork: { roles: EVERYONE, about: 'tenant' },
  putTenantNetwork: { roles: KEEPERS, about: 'tenant' },
  listTenants: { roles: EVERYONE, about: 'list' },
  getTenant: { roles: EVERYONE, about: 'tenant' },
  patchTenant: { roles: ADMIN, about: 'tenant' },
  tenantEnv: { roles: EVERYONE, about: 'tenant' },
  patchTenantEnv: { roles: WORKERS, about: 'tenant' },
  tenantSecrets: { roles: EVERYONE, about: 'tenant' },
  setTenantSecret: { roles: WORKERS, about: 'tenant' },
  deleteTenantSecret: { roles: WORKERS, about: 'tenant' },
  instanceEnv: look,
  patchInstanceEnv: run,
  instanceSecrets: look,
  setInstanceSecret: run,
  deleteInstanceSecret: run,
  blueprintEnv: { roles: EVERYONE, about: 'dock' },
  patchBlueprintEnv: { roles: KEEPERS, about: 'everyone' },
  forgetTenant: { roles: ADMIN, about: 'tenant' },
  tenantLogs: { roles: READERS, about: 'tenant', reason: ['support'] },
  tenantUsage: { roles: EVERYONE, about: 'tenant' },
  tenantLoad: { roles: EVERYONE, about: 'tenant' },
  previewThresholds: { roles: EVERYONE, about: 'list' },
  simulate: { roles: EVERYONE, about: 'list' },
  wakeTimes: { roles: PEOPLE, about: 'everyone' },
  serverUsage: { roles: PEOPLE, about: 'everyone' },
  serverLoad: { roles: PEOPLE, about: 'everyone' },
  events: { roles: EVERYONE, about: 'list' },
  eventsAfter: { roles: EVERYONE, about: 'dock' },
  followEvents: { roles: EVERYONE, about: 'list' },
  exportEvents: { roles: EVERYONE, about: 'list' },
  verifyLedger: { roles: PEOPLE, about: 'everyone' },
  ledgerHead: { roles: PEOPLE, about: 'everyone' },
  ledgerSegments: { roles: PEOPLE, about: 'everyone' },
  exportSegment: { roles: ADMIN, about: 'everyone' },
  getSettings: { roles: EVERYONE, about: 'dock' },
  patchSettings: { roles: ADMIN, about: 'everyone' },
  storage: { roles: ADMIN, about: 'everyone' },
  replicaLateness: { roles: KEEPERS, about: 'everyone' },
  checkStorage: { roles: ADMIN, about: 'everyone' },
  listBackups: { roles: KEEPERS, about: 'everyone' },
  getBackup: { roles: KEEPERS, about: 'everyone' },
  makeBackup: { roles: KEEPERS, about: 'everyone' },
  verifyBackup: { roles: KEEPERS, about: 'everyone' },
  // A file of a backup is what a sandbox was: only roles that read every volume may bring it back.
  restoreBackup: { roles: KEEPERS, about: 'everyone', contents: 'all' },
  backupSettings: { roles: KEEPERS, about: 'everyone' },
  putBackupSettings: { roles: ADMIN, about: 'everyone' },
  listHosts: { roles: KEEPERS, about: 'everyone' },
  getHost: { roles: KEEPERS, about: 'everyone' },
  patchHost: { roles: KEEPERS, about: 'everyone' },
  drainHost: { roles: KEEPERS, about: 'everyone' },
  stopDraining: { roles: KEEPERS, about: 'everyone' },
  nearQuotas: { roles: EVERYONE, about: 'list' },
  failingSchedules: { roles: EVERYONE, about: 'list' },
  diskRoom: { roles: KEEPERS, about: 'everyone' },
  // What each source finds has a rule of its own, and what was acknowledged is what one sees.
  attention: { roles: EVERYONE, about: 'list' },
  acknowledge: { roles: ['admin', 'operator', 'support'], about: 'dock' },
  unacknowledge: { roles: ['admin', 'operator', 'support'], about: 'dock' },
  counts: { roles: EVERYONE, about: 'dock' },
  due: { roles: EVERYONE, about: 'dock' },
  dueCounts: { roles: EVERYONE, about: 'dock' },
  metricsText: { roles: PEOPLE, about: 'everyone' },
  serverHealth: { roles: PEOPLE, about: 'everyone' },

  me: { roles: EVERYONE, about: 'dock' },
  people: { roles: ADMIN, about: 'everyone' },
  invitations: { roles: ADMIN, about: 'everyone' },
  invite: { roles: ADMIN, about: 'everyone' },
  withdrawInvitation: { roles: ADMIN, about: 'everyone' },
  patchPerson: { roles: ADMIN, about: 'everyone' },
  sessionsOf: { roles: PEOPLE, about: 'person', others: ADMIN },
  endSession: { roles: PEOPLE, about: 'person', others: ADMIN },
  changePassword: { roles: PEOPLE, about: 'dock' },
  ownZone: { roles: EVERYONE, about: 'dock' },
  setOwnZone: { roles: PEOPLE, about: 'dock' },
  listKeys: { roles: ADMIN, about: 'everyone' },
  createKey: { roles: ADMIN, about: 'everyone' },
  revokeKey: { roles: ADMIN, about: 'everyone' },
} as const satisfies Record<string, Rule>;

/** The name of an operation. */
export type OperationName = keyof typeof TABLE;

/** The table. The server does not start when an operation has no line in it. */
export const RULES: Readonly<Record<OperationName, Rule>> = TABLE;

/** The volumes whose contents a role may read. */
export const READS: Readonly<Record<Role, readonly Volume[]>> = {
  admin: VOLUMES,
  operator: VOLUMES,
  support: ['workspace'],
  viewer: [],
  tenant: VOLUMES,
};

/** The rights of a caller, or the part of them that a page knows. */
export interface Rights {
  role: Role;
  /** Null: all. */
  tenants: readonly string[] | null;
}

/** What a button or a request is about, as far as it is known. */
export interface Aim {
  tenant?: string | null;
  volume?: Volume | null;
  reason?: string | null;
}

/** Role and article, for sentences. */
const ROLE_WORDS: Readonly<Record<Role, string>> = {
  admin: 'An admin',
  operator: 'An operator',
  support: 'Support',
  viewer: 'A viewer',
  tenant: 'A tenant’s key',
};

/**
 * The role question: why a role forbids an operation, in a sentence, or null when it does not. It is asked once a
 * request, before anything is read or looked up, so that the answer is the same whatever the request names.
 */
export function roleRefusal(who: Rights, operation: OperationName): string | null {
  const { roles, about, contents } = RULES[operation];
  const { role } = who;
  const name = ROLE_WORDS[role];
  if (!roles.includes(role)) return `${name} may not do this.`;
  if (about === 'everyone' && who.tenants !== null) return `${name} of some tenants may not do this: it is about all.`;
  if (contents === undefined) return null;
  const readable = READS[role].length;
  if (contents === 'all' && readable < VOLUMES.length) return `${name} may not do this: it reaches every volume.`;
  return readable === 0 ? `${name} sees no contents.` : null;
}

/** Why a role may not read a volume, in a sentence, or null when it may. */
export function volumeRefusal({ role }: Pick<Rights, 'role'>, volume: Volume): string | null {
  const reads = READS[role];
  return reads.includes(volume) ? null : `${ROLE_WORDS[role]} reads ${reads.join(' and ')} only.`;
}

/** Why a caller may not do something, in a sentence for a disabled button, or null when they may. */
export function whyNot(who: Rights, operation: OperationName, aim: Aim = {}): string | null {
  const refusal = roleRefusal(who, operation);
  if (refusal !== null) return refusal;
  const { tenant, volume, reason } = aim;
  if (volume && RULES[operation].contents !== undefined) {
    const unreadable = volumeRefusal(who, volume);
    if (unreadable !== null) return unreadable;
  }
  if (typeof tenant === 'string' && who.tenants !== null && !who.tenants.includes(tenant))
    return 'It belongs to another tenant.';
  return reason === '' && needsReason(who, operation) ? 'This needs a reason.' : null;
}

/** Whether a caller may do it. */
export function mayDo(who: Rights, operation: OperationName, aim: Aim = {}): boolean {
  return whyNot(who, operation, aim) === null;
}

/** Whether the caller must say why. */
export function needsReason(who: Rights, operation: OperationName): boolean {
  return RULES[operation].reason?.includes(who.role) ?? false;
}
