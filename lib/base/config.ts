/** Every setting, read from the environment and checked at start. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  DEFAULT_HOT_TO_WARM_SECONDS,
  DEFAULT_IDLE_TO_FREEZE_SECONDS,
  DEFAULT_IDLE_TO_SUSPEND_SECONDS,
} from '../lifecycle/ladder.ts';
import { messageOf, WinterdockError } from './errors.ts';
import { HOST_SETTINGS, type HostSettings, hostSettingsOf } from './host-settings.ts';
import { LOG_SETTINGS, type LogSettings, logSettingsOf } from './log-settings.ts';
import { machineMemory, sandboxMemoryShare } from './machine-memory.ts';
import { NATIVE_SETTINGS, type NativeSettings, nativeSettingsOf } from './native-settings.ts';
import { parseRegistryUrl, type RegistryAddress, registryAddress } from './registry-url.ts';
import { STORE_SETTINGS, type StoreSettings, storeMisfit, storeSettingsOf } from './store-settings.ts';
import { isWall, WALLS, type Wall } from './walls.ts';

const MIB = 1024 * 1024;
const integer = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .default(fallback);
const text = z.string().min(1);
/** Origins, separated by commas; each as browsers write it. */
const origins = z
  .string()
  .transform((list) =>
    list
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
  )
  .refine((list) => list.every((one) => URL.canParse(one) && new URL(one).origin === one && /^https?:/.test(one)), {
    error: 'must be origins such as https://hooks.lan:8443, separated by commas',
  })
  .default([]);
/** Names of walls, separated by commas. */
const walls = z
  .string()
  .transform((list) => [...new Set(list.split(',').map((name) => name.trim()))])
  .refine((names) => names.every(isWall), { error: `must be some of ${WALLS.join(', ')}, separated by commas` })
  .transform((names) => names.filter(isWall))
  .default([]);
const registryUrl = z.string().transform((given, context) => {
  try {
    return parseRegistryUrl(given);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/**
 * Settings whose values are never shown. A URL may hold a password.
 */
const SECRET = new Set([
  'WB_ADMIN_KEY',
  'WB_BACKUP_PASSPHRASE',
  'WB_REGISTRY',
  'WB_COLD_URL',
  'WB_REPLICA_URL',
  'WB_STORE_ENDPOINT',
]);
/** Settings that say where everything is: a server that started without them would find nothing. */
const REFUSED: Readonly<Record<string, string>> = {
  WB_REGISTRY: 'registry_url',
  WB_COLD_URL: 'store_url',
  WB_REPLICA_URL: 'replica_url',
};

/** The least memory budget: room for two sandbox processes. */
const LEAST_MEMORY = 40 * MIB;
const MOST_MEMORY = 64 * 1024 * 1024 * MIB;
const MEMORY_RANGE = `must be a whole number of bytes from ${LEAST_MEMORY} to ${MOST_MEMORY}, or 0 for no budget`;
const isMemory = (bytes: number) => bytes === 0 || (bytes >= LEAST_MEMORY && bytes <= MOST_MEMORY);

const environmentSchema = z.object({
  PORT: integer(0, 65_535, 3000),
  HOST: text.default('127.0.0.1'),
  WB_PUBLIC_URL: httpUrl.optional(),
  ...HOST_SETTINGS,
  WB_DATA: text.default('./data'),
  WB_REGISTRY: registryUrl.optional(),
  WB_REGISTRY_POOL: integer(2, 200, 8),
  ...STORE_SETTINGS,
  WB_CACHE: text.optional(),
  WB_ROOTS: text.optional(),
  WB_KEYS: text.optional(),
  WB_TICK_MS: integer(50, 3_600_000, 5000),
  WB_HOT_TO_WARM: integer(0, 31_536_000, DEFAULT_HOT_TO_WARM_SECONDS),
  WB_IDLE_TO_SUSPEND: integer(1, 31_536_000, DEFAULT_IDLE_TO_SUSPEND_SECONDS),
  WB_IDLE_TO_FREEZE: integer(1, 31_536_000, DEFAULT_IDLE_TO_FREEZE_SECONDS),
  WB_POOL: integer(0, 64, 2),
  WB_MAX_ACTIVE: integer(1, 10_000, 200),
  WB_MEMORY: z.string().regex(/^\d+$/, MEMORY_RANGE).transform(Number).refine(isMemory, MEMORY_RANGE).optional(),
  WB_WAKE_WAIT_MS: integer(0, 600_000, 15_000),
  WB_CHECK_MS: integer(100, 3_600_000, 10_000),
  WB_CHECKS_TO_PAUSE: integer(1, 1000, 10),
  WB_READY_MS: integer(1000, 600_000, 30_000),
  WB_TERM_MS: integer(0, 600_000, 3000),
  WB_CPU_GROUPS: z.enum(['0', '1']).default('1'),
  WB_REQUIRE_WALLS: walls,
  WB_DRAIN_MS: integer(0, 600_000, 5000),
  WB_MAX_BODY: integer(1024, 1024 * MIB, 100 * MIB),
  WB_MAX_FILE: integer(1024, 256 * MIB, 64 * MIB),
  WB_MAX_SANDBOX: integer(MIB, 1024 * 1024 * MIB, 1024 * MIB),
  WB_PREFETCH_AT_SIGN_IN: integer(0, 50, 5),
  WB_SCHEDULE_SPREAD: integer(0, 3600, 60),
  WB_SCHEDULES_PER_SANDBOX: integer(0, 10_000, 100),
  WB_SCHEDULES_PER_TENANT: integer(0, 1_000_000, 10_000),
  WB_MAX_CALL_MS: integer(1000, 3_600_000, 600_000),
  WB_MAX_RUN: integer(1, 604_800, 3600),
  WB_RUNS_PER_SANDBOX: integer(1, 1000, 16),
  WB_RUNS_PER_TENANT: integer(1, 100_000, 256),
  WB_RUNS_KEPT: integer(0, 10_000, 100),
  WB_RUN_OUTPUT: integer(4096, 64 * MIB, MIB),
  WB_RUN_OUTPUT_PER_TENANT: integer(4096, 1024 * MIB, 32 * MIB),
  WB_RUN_OUTPUT_TOTAL: integer(4096, 16 * 1024 * MIB, 256 * MIB),
  ...LOG_SETTINGS,
  ...NATIVE_SETTINGS,
  WB_TERMINAL_SCROLLBACK: integer(4096, 16 * MIB, 256 * 1024),
  WB_TERMINALS_PER_SANDBOX: integer(1, 100, 8),
  WB_TERMINALS_PER_TENANT: integer(1, 10_000, 64),
  WB_RATE_KEY: integer(0, 10_000_000, 12_000),
  WB_RATE_ADDRESS: integer(0, 10_000_000, 24_000),
  WB_RATE_WRONG_KEYS: integer(0, 10_000_000, 100),
  WB_COST_ADDRESS: integer(0, 10_000, 2000),
  WB_OUTGOING_ALLOWED: origins,
  WB_WEBHOOK_HISTORY: integer(1, 100_000, 500),
  WB_TRUST_PROXY: z.enum(['0', '1']).default('0'),
  WB_LEDGER_KEEP_DAYS: integer(0, 36_500, 0),
  WB_USAGE_KEEP_DAYS: integer(1, 36_500, 400),
  WB_USAGE_ROWS: integer(1000, 1_000_000_000, 2_000_000),
  WB_JOBS_KEEP_DAYS: integer(1, 36_500, 90),
  WB_SCHEDULE_RUNS: integer(1, 10_000, 100),
  WB_METRICS: z.enum(['key', 'open']).default('key'),
  WB_REQUIRE_SIGNED: z.enum(['0', '1']).default('0'),
  WB_SESSION_API: z.enum(['off', 'on']).default('off'),
  WB_ADMIN_KEY: z.string().min(16, 'must have at least 16 characters').max(512).optional(),
  WB_BACKUP_PASSPHRASE: text.optional(),
  WB_LOG: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('warn'),
});

export interface Config {
  port: number;
  host: string;
  /** The origin that people use, without a trailing slash; null: `http://HOST:PORT`. */
  publicUrl: string | null;
  /** The name of this server among those of one registry. */
  hostName: string;
  /** What its row in the registry says of it. */
  hostRow: HostSettings;
  /** Absolute path of the data folder. */
  dataFolder: string;
  /** Where the registry is. */
  registry: RegistryAddress;
  /** The object store. */
  store: StoreSettings;
  /** Absolute path of the folder with the key files, but for `users.key`, which is the data folder's. */
  keysFolder: string;
  /** Absolute path of the root file systems of real programs. */
  rootsFolder: string;
  /** Absolute path of the workers' compile cache; servers of one user may share it. */
  cacheFolder: string;
  tickMs: number;
  /** Idle seconds after which a running process is paused; 0: never. */
  hotToWarmSeconds: number;
  idleToSuspendSeconds: number;
  idleToFreezeSeconds: number;
  poolSize: number;
  maxActive: number;
  /** Memory budget of all sandbox processes together, in bytes; null: none. */
  memoryBytes: number | null;
  /** The longest that a wake waits for its turn, in milliseconds. */
  wakeWaitMs: number;
  /** Milliseconds between two health checks of an idle process. */
  checkEveryMs: number;
  /** Unanswered checks in a row after which an idle process is paused. */
  silentAfterChecks: number;
  /** Milliseconds that a process may take to start, and to answer after it was paused for its silence. */
  readyMs: number;
  /** Milliseconds between asking a process to end (SIGTERM) and killing it. */
  termMs: number;
  /** Whether processor time is shared by control groups, where the server may make them. */
  cpuGroups: boolean;
  /** Walls without which the server does not start. */
  requiredWalls: readonly Wall[];
  drainMs: number;
  maxBodyBytes: number;
  maxFileBytes: number;
  maxSandboxBytes: number;
  /** Files of frozen sandboxes that are brought near when somebody of a tenant signs in, at most. */
  prefetchAtSignIn: number;
  /** Seconds over which schedules that are due at the same second are spread; 0: they are not. */
  scheduleSpreadSeconds: number;
  schedulesPerSandbox: number;
  schedulesPerTenant: number;
  /** The longest time limit that a call may be given, in milliseconds. */
  maxCallMs: number;
  /** The longest time limit that a run may be given, in milliseconds. */
  maxRunMs: number;
  /** Runs under way at the same time. */
  runsPerSandbox: number;
  runsPerTenant: number;
  /** Ended runs that a sandbox keeps. */
  runsKept: number;
  /** Bytes of output kept in memory: of one run, of all runs of a tenant, of all runs. */
  runOutputBytes: number;
  runOutputBytesPerTenant: number;
  runOutputBytesTotal: number;
  /** What sandboxes printed, kept on this machine. */
  logs: LogSettings;
  native: NativeSettings;
  /** Bytes of scrollback that one terminal keeps in memory. */
  terminalBytes: number;
  /** Open terminals. */
  terminalsPerSandbox: number;
  terminalsPerTenant: number;
  /** Requests a minute of one key, from one address, and wrong keys from one address; 0: no limit. */
  ratePerKey: number;
  ratePerAddress: number;
  rateWrongKeys: number;
  /** Milliseconds in ten seconds that pages without a session may hold the server for one address; 0: no limit. */
  costPerAddress: number;
  /** Origins outside the public internet, or without TLS, that requests of this server may go to. */
  outgoingAllowed: readonly string[];
  /** Ended deliveries that each webhook keeps. */
  webhookHistory: number;
  /** Bundles without a valid signature are not imported. */
  requireSigned: boolean;
  trustProxy: boolean;
  /** Days that a sealed and exported month of the ledger is kept; null: for ever. */
  ledgerKeepDays: number | null;
  /** Days that usage, processor time by day and wake times are kept. */
  usageKeepDays: number;
  /** Rows at most of the usage of sandboxes, and as many of tenants: older ones go. */
  usageRows: number;
  /** Days that ended jobs are kept. */
  jobsKeepDays: number;
  /** Runs kept of each schedule. */
  runsPerSchedule: number;
  metricsOpen: boolean;
  /** Whether the session API, for clients of Ash, is on. */
  sessionApi: boolean;
  adminKey: string | null;
  /** What encrypts key files in backups; null: a file beside them, if there is one. */
  backupPassphrase: string | null;
  logLevel: string;
}

/**
 * Parses the environment. Throws an error that names each wrong setting, its value and what is allowed; the value of a
 * secret is never in it. A wrong WB_REGISTRY or WB_COLD_URL is a refused start, which nobody repeats by itself.
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      const value = SECRET.has(name) ? '(hidden)' : JSON.stringify(given[name]);
      return `${name}=${value}: ${issue.message}`;
    });
    const message = `Wrong settings:\n  ${lines.join('\n  ')}`;
    const [refused] = parsed.error.issues.flatMap(({ path }) => REFUSED[String(path[0])] ?? []);
    if (refused === undefined) throw new Error(message);
    throw new WinterdockError('validation', message, { extra: { start_refused: refused } });
  }
  const env = parsed.data;
  const misfit = storeMisfit(env);
  if (misfit !== null) throw new Error(`Wrong settings:\n  ${misfit}`);
  const dataFolder = resolve(env.WB_DATA);
  return {
    port: env.PORT,
    host: env.HOST,
    ...hostSettingsOf(env),
    publicUrl: env.WB_PUBLIC_URL ? env.WB_PUBLIC_URL.replace(/\/+$/, '') : null,
    dataFolder,
    store: storeSettingsOf(env, environment),
    registry: registryAddress(env.WB_REGISTRY ?? { driver: 'sqlite', path: join(dataFolder, 'registry.sqlite') }, {
      headFolder: dataFolder,
      connections: env.WB_REGISTRY_POOL,
    }),
    keysFolder: resolve(env.WB_KEYS ?? dataFolder),
    cacheFolder: resolve(env.WB_CACHE ?? join(dataFolder, 'cache')),
    rootsFolder: resolve(env.WB_ROOTS ?? join(dataFolder, 'roots')),
    tickMs: env.WB_TICK_MS,
    hotToWarmSeconds: env.WB_HOT_TO_WARM,
    idleToSuspendSeconds: env.WB_IDLE_TO_SUSPEND,
    idleToFreezeSeconds: env.WB_IDLE_TO_FREEZE,
    poolSize: env.WB_POOL,
    maxActive: env.WB_MAX_ACTIVE,
    memoryBytes: env.WB_MEMORY === 0 ? null : (env.WB_MEMORY ?? sandboxMemoryShare(machineMemory())),
    wakeWaitMs: env.WB_WAKE_WAIT_MS,
    checkEveryMs: env.WB_CHECK_MS,
    silentAfterChecks: env.WB_CHECKS_TO_PAUSE,
    readyMs: env.WB_READY_MS,
    termMs: env.WB_TERM_MS,
    cpuGroups: env.WB_CPU_GROUPS === '1',
    requiredWalls: env.WB_REQUIRE_WALLS,
    drainMs: env.WB_DRAIN_MS,
    maxBodyBytes: env.WB_MAX_BODY,
    maxFileBytes: env.WB_MAX_FILE,
    maxSandboxBytes: env.WB_MAX_SANDBOX,
    prefetchAtSignIn: env.WB_PREFETCH_AT_SIGN_IN,
    scheduleSpreadSeconds: env.WB_SCHEDULE_SPREAD,
    schedulesPerSandbox: env.WB_SCHEDULES_PER_SANDBOX,
    schedulesPerTenant: env.WB_SCHEDULES_PER_TENANT,
    maxCallMs: env.WB_MAX_CALL_MS,
    maxRunMs: env.WB_MAX_RUN * 1000,
    runsPerSandbox: env.WB_RUNS_PER_SANDBOX,
    runsPerTenant: env.WB_RUNS_PER_TENANT,
    runsKept: env.WB_RUNS_KEPT,
    runOutputBytes: env.WB_RUN_OUTPUT,
    runOutputBytesPerTenant: env.WB_RUN_OUTPUT_PER_TENANT,
    runOutputBytesTotal: env.WB_RUN_OUTPUT_TOTAL,
    logs: logSettingsOf(env),
    native: nativeSettingsOf(env),
    terminalBytes: env.WB_TERMINAL_SCROLLBACK,
    terminalsPerSandbox: env.WB_TERMINALS_PER_SANDBOX,
    terminalsPerTenant: env.WB_TERMINALS_PER_TENANT,
    ratePerKey: env.WB_RATE_KEY,
    ratePerAddress: env.WB_RATE_ADDRESS,
    rateWrongKeys: env.WB_RATE_WRONG_KEYS,
    costPerAddress: env.WB_COST_ADDRESS,
    outgoingAllowed: env.WB_OUTGOING_ALLOWED,
    webhookHistory: env.WB_WEBHOOK_HISTORY,
    requireSigned: env.WB_REQUIRE_SIGNED === '1',
    trustProxy: env.WB_TRUST_PROXY === '1',
    ledgerKeepDays: env.WB_LEDGER_KEEP_DAYS === 0 ? null : env.WB_LEDGER_KEEP_DAYS,
    usageKeepDays: env.WB_USAGE_KEEP_DAYS,
    usageRows: env.WB_USAGE_ROWS,
    jobsKeepDays: env.WB_JOBS_KEEP_DAYS,
    runsPerSchedule: env.WB_SCHEDULE_RUNS,
    metricsOpen: env.WB_METRICS === 'open',
    sessionApi: env.WB_SESSION_API === 'on',
    adminKey: env.WB_ADMIN_KEY ?? null,
    backupPassphrase: env.WB_BACKUP_PASSPHRASE ?? null,
    logLevel: env.WB_LOG,
  };
}

/** The Levenshtein distance of two names. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The largest distance of a misspelling. */
const MISSPELT_LETTERS = 3;

/** A sentence for every unknown `WB_` name in the environment, with the likely setting. Never shows a value. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  const known = Object.keys(environmentSchema.shape);
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('WB_') && !name.startsWith('WB_TEST_') && !known.includes(name),
  );
  return unknown.map((name) => {
    const [nearest] = known
      .map((setting) => ({ setting, off: distance(name, setting) }))
      .sort((one, other) => one.off - other.off);
    const meant = nearest !== undefined && nearest.off <= MISSPELT_LETTERS ? ` Did you mean ${nearest.setting}?` : '';
    return `${name} is not a setting of Winterdock and does nothing.${meant}`;
  });
}
