/**
 * What the calls take and answer, as plain types: the client's users need no schema library. Printed from the
 * contract's schemas by `npm run client:calls`. Not to be written by hand.
 */

export type AcknowledgeInput = {
  /** Left out or null: until it ends. */
  until?: number | null | undefined;
  reason?: string | undefined;
};

export type Attachment = {
  attachment: string;
  lease_s: number;
};

export type Attention = {
  /** Another one when it is another trouble. */
  id: string;
  kind: 'fault' | 'stuck' | 'backup' | 'replica' | 'disk' | 'quota' | 'webhook' | 'schedule';
  /** `warning`: nothing is wrong yet. */
  level: 'wrong' | 'warning';
  /** Null: it is about the whole server. */
  tenant: string | null;
  instance: string | null;
  name: string;
  says: string;
  /** Where the console shows it: a path. */
  page: string;
  /** Null: nobody noted it. */
  since: number | null;
  /** How many things it stands for. */
  count: number;
  acknowledged: {
    actor: string;
    /** The name of the person or key; null for one without a name, or that is gone. */
    actor_name: string | null;
    at: number;
    /** Null: until what it is of ends. */
    until: number | null;
    reason: string | null;
  } | null;
};

export type AttentionQuery = {
  tenant?: string | undefined;
};

export type Backup = {
  id: string;
  state: 'asked' | 'running' | 'made' | 'failed' | 'removed';
  target: string;
  planned: number | null;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
  reason: string | null;
  asked: number;
  begun: number | null;
  ended: number | null;
  took_ms: number | null;
  progress: {
    done: number;
    all: number;
  } | null;
  sandboxes: number | null;
  bytes: number | null;
  added_objects: number | null;
  added_bytes: number | null;
  wrong: number | null;
  keys: boolean;
  error: string | null;
  verified: {
    time: number;
    took_ms: number | null;
    error: string | null;
  } | null;
};

export type BackupRestore = {
  backup: string;
  time: number;
  dry_run: boolean;
  holds: {
    states: Record<string, number>;
    copies: number;
    bytes: number;
    memory: number;
    missing: number;
    unsound: number;
    keys: boolean;
  };
  one: {
    instance: string;
    as: string;
    tenant: string;
    bytes: number;
    was: string;
    now: string | null;
    refusal: string | null;
    wrong: string | null;
  } | null;
  command: string;
};

export type BackupSettings = {
  enabled: boolean;
  target: string | null;
  cron: string;
  timezone: string;
  keep: {
    hourly: number;
    daily: number;
    weekly: number;
    monthly: number;
  };
  with_keys: boolean;
  trial_cron: string | null;
  has_passphrase: boolean;
  next: number | null;
  last: number | null;
  fault: {
    kind: 'failed' | 'overdue' | 'trial';
    since: number;
    reason: string;
  } | null;
};

export type BackupsQuery = {
  state?: 'asked' | 'running' | 'made' | 'failed' | 'removed' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type Blueprint = {
  name: string;
  tenant: string | null;
  source: string | null;
  replicate: string | null;
  hash: string;
  bytes: number;
  volumes: Array<'workspace' | 'memory' | 'tmp'>;
  contents: Array<{
    volume: 'workspace' | 'memory' | 'tmp';
    files: number;
    bytes: number;
  }>;
  created: number;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
  instances: number;
};

export type BlueprintsQuery = {
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type BundleOrigin = {
  signed: boolean;
  issuer: string | null;
  notes: Array<string>;
};

export type CheckoutQuery = {
  format?: 'tar.gz' | undefined;
};

export type CloneInput = {
  tenant: string;
  count?: number | undefined;
  name?: string | undefined;
  start?: boolean | undefined;
};

export type CompareQuery = {
  snapshot?: string | undefined;
  /** The newest moment of the replica up to then, in seconds since the epoch */
  since?: number | string | undefined;
  limit?: number | string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type Comparison = {
  snapshot: string | null;
  /** Of the moment that was compared with, in seconds since the epoch with fractions */
  since: number | null;
  volume: 'workspace' | 'memory' | 'tmp';
  added: number;
  removed: number;
  changed: number;
  same: number;
  changes: Array<FileChange>;
};

export type Completion = {
  begin: string;
  quote: '"' | "'" | null;
  names: Array<string>;
  truncated: boolean;
};

export type CompletionQuery = {
  /** What stands before the cursor. */
  line: string;
  cwd?: string | undefined;
};

export type ComponentCallAnswer = {
  output?: unknown | undefined;
  error?:
    | {
        message: string;
        component?: string | undefined;
        kind: 'input' | 'output' | 'capability' | 'component' | 'timeout' | 'memory' | 'state' | 'dependency';
      }
    | undefined;
  logs: Array<{
    stream: 'stdout' | 'stderr' | 'log';
    text: string;
    component?: string | undefined;
  }>;
  timed_out: boolean;
  took_ms: number;
  woke: 'hot' | 'warm' | 'cold';
};

export type ComponentCallInput = {
  /** The inputs by their names. */
  input?: Record<string, unknown> | undefined;
  /**
   * Milliseconds of the whole call; more than `WB_MAX_CALL_MS` is refused. One component has no more of it than an
   * `exec` may ask for.
   */
  timeout_ms?: number | undefined;
};

export type ComponentPort = {
  name: string;
  type: string;
  optional: boolean;
};

export type CreateBlueprintInput = {
  name: string;
  from_instance: string;
  replicate?: string | undefined;
};

export type CreateBlueprintQuery = {
  name?: string | undefined;
  replicate?: string | undefined;
};

export type CreateInput = {
  id?: string | undefined;
  tenant: string;
  name?: string | undefined;
  /** It is never suspended or frozen: once idle for its time it is archived and deleted. */
  ephemeral?: boolean | undefined;
  policy?: 'posix' | 'minimal' | 'compute' | 'network' | 'native' | undefined;
  keep_hot?: boolean | undefined;
  /**
   * Idle seconds after which its process is paused in memory (`warm`), until the next request; 0: never. Changes no
   * state.
   */
  hot_to_warm_s?: number | undefined;
  idle_to_suspend_s?: number | undefined;
  /**
   * Another name of `idle_to_suspend_s`: idle seconds until it is suspended, or, ephemeral, archived and deleted. Both
   * are taken when they say the same.
   */
  timeout_secs?: number | undefined;
  idle_to_freeze_s?: number | undefined;
  replicate?: string | undefined;
  labels?: Record<string, string> | undefined;
  workbook?: string | undefined;
  vfs_path?: ':memory:' | undefined;
};

export type CreateScheduleInput = {
  cron?: string | undefined;
  timezone?: string | undefined;
  command?: string | undefined;
  component?: string | undefined;
  input?: Record<string, unknown> | undefined;
  timeout_ms?: number | null | undefined;
  missed?: 'skip' | 'once' | 'all' | undefined;
  at?: number | undefined;
  repeat?: string | undefined;
  paused?: boolean | undefined;
};

export type CreatedKey = {
  id: string;
  name: string;
  role: 'admin' | 'operator' | 'support' | 'viewer' | 'tenant';
  tenant: string | null;
  prefix: string;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  expires: number | null;
  max_call_s: number | null;
  last_used: number | null;
  key: string;
};

export type Database = {
  tables: Array<DatabaseTable>;
  total: number;
  /** In WAL mode: rows still in its log are in another file, and not shown */
  wal: boolean;
  /** The `cursor` of the next page */
  next: string | null;
};

export type DatabaseQuery = {
  path: string;
  limit?: number | string | undefined;
  cursor?: string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type DatabaseRows = {
  name: string;
  /** A virtual table is listed and never opened */
  kind: 'table' | 'view' | 'virtual';
  /** The first 100; in a list none of a view */
  columns: Array<{
    name: string;
    type: string;
  }>;
  column_count: number;
  /** Counted to 10 000; null for a view, and for what is not opened */
  row_count: number | null;
  /** There are more than `row_count` */
  more_rows: boolean;
  /** Why it cannot be opened */
  problem: string | null;
  /** In WAL mode: rows still in its log are in another file, and not shown */
  wal: boolean;
  /** How many rows come before these */
  offset: number;
  rows: Array<
    Array<
      | null
      | number
      | string
      | {
          text: string;
          bytes: number;
        }
      | {
          hex: string;
          bytes: number;
        }
    >
  >;
  /** The `cursor` of the next page */
  next: string | null;
};

export type DatabaseRowsQuery = {
  path: string;
  table: string;
  limit?: number | string | undefined;
  cursor?: string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type DatabaseTable = {
  name: string;
  /** A virtual table is listed and never opened */
  kind: 'table' | 'view' | 'virtual';
  /** The first 100; in a list none of a view */
  columns: Array<{
    name: string;
    type: string;
  }>;
  column_count: number;
  /** Counted to 10 000; null for a view, and for what is not opened */
  row_count: number | null;
  /** There are more than `row_count` */
  more_rows: boolean;
  /** Why it cannot be opened */
  problem: string | null;
};

export type DeleteFolderQuery = {
  path: string;
  recursive?: 'true' | 'false' | undefined;
};

export type DeleteInput = {
  reason?: string | undefined;
};

export type DeliveriesQuery = {
  state?: 'pending' | 'delivered' | 'failed' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type DrainHostInput = {
  reason?: string | undefined;
  /** Also what is kept hot, held or shown in a terminal; without it that stays */
  include_held?: boolean | undefined;
};

export type DryRun = {
  matched: number;
  will: number;
  held: Array<{
    hold: 'kept_hot' | 'held' | 'attached';
    words: string;
    count: number;
  }>;
  skip: Array<{
    reason: string;
    count: number;
  }>;
  plans: Array<{
    from: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    hops: Array<'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted'>;
    count: number;
  }>;
  losses: Array<{
    loss: 'process' | 'tmp' | 'everything';
    words: string;
    count: number;
  }>;
  rows: Array<{
    id: string;
    tenant: string | null;
    name: string | null;
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | null;
    outcome: 'will' | 'held' | 'skip';
    hops: Array<'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted'>;
    hold: 'kept_hot' | 'held' | 'attached' | null;
    reason: string | null;
  }>;
};

export type EndSessionQuery = {
  session?: string | undefined;
};

export type EnvPatchInput = {
  env: Record<string, string | null>;
};

export type EvalAnswer = {
  ok: boolean;
  value?: unknown | undefined;
  stdout: string;
  stderr: string;
  /** There when `stdout` is in base64: it was asked for, or it is no UTF-8. Without it `stdout` is text. */
  stdout_encoding?: 'base64' | undefined;
  /** As `stdout_encoding`, of `stderr`. */
  stderr_encoding?: 'base64' | undefined;
  error?: string | undefined;
  timed_out: boolean;
  took_ms: number;
  woke: 'hot' | 'warm' | 'cold';
};

export type EvalInput = {
  language: 'js' | 'python';
  code: string;
  encoding?: 'base64' | undefined;
  /**
   * Milliseconds from its turn on. Default: 60 000, with the policies `compute` and `minimal` 5 000. More is refused
   * than `WB_MAX_CALL_MS` and the policy (60 000 with those two) allow, in whose place `max_call_s` of the tenant or of
   * the key may stand.
   */
  timeout_ms?: number | undefined;
};

export type Event = {
  seq: number;
  time: number;
  time_ms: number;
  instance: string | null;
  tenant: string | null;
  type: string;
  from: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | null;
  to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | null;
  trigger:
    | 'request'
    | 'idle'
    | 'schedule'
    | 'operator'
    | 'plan'
    | 'crash'
    | 'timeout'
    | 'reconcile'
    | 'quota'
    | 'memory'
    | 'pressure'
    | 'boot'
    | 'stop';
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
  via: 'api' | 'console' | 'cli' | 'mcp' | 'ticker' | 'schedule' | 'system';
  source: 'local' | 'cold' | 'archive' | 'cloud' | 'snapshot' | 'blueprint' | 'fresh' | null;
  took_ms: number | null;
  reason: string | null;
  error: string | null;
  request_id: string | null;
  address: string | null;
};

export type EventsQuery = {
  tenant?: string | undefined;
  instance?: string | undefined;
  type?: string | undefined;
  actor?: string | undefined;
  trigger?:
    | 'request'
    | 'idle'
    | 'schedule'
    | 'operator'
    | 'plan'
    | 'crash'
    | 'timeout'
    | 'reconcile'
    | 'quota'
    | 'memory'
    | 'pressure'
    | 'boot'
    | 'stop'
    | undefined;
  /** Lines of this request. What a job did has the id of the job. */
  request_id?: string | undefined;
  since?: number | string | undefined;
  until?: number | string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type ExecAnswer = {
  exit_code: number;
  stdout: string;
  stderr: string;
  /** There when `stdout` is in base64: it was asked for, or it is no UTF-8. Without it `stdout` is text. */
  stdout_encoding?: 'base64' | undefined;
  /** As `stdout_encoding`, of `stderr`. */
  stderr_encoding?: 'base64' | undefined;
  cwd: string;
  timed_out: boolean;
  truncated: boolean;
  took_ms: number;
  woke: 'hot' | 'warm' | 'cold';
};

export type ExecInput = {
  command: string;
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  /** Text for its stdin, in UTF-8. */
  stdin?: string | undefined;
  /** Any bytes for its stdin, at most 16777216. Instead of `stdin`. */
  stdin_base64?: string | undefined;
  encoding?: 'base64' | undefined;
  /**
   * Milliseconds from its turn on. Default: 60 000, with the policies `compute` and `minimal` 5 000. More is refused
   * than `WB_MAX_CALL_MS` and the policy (60 000 with those two) allow, in whose place `max_call_s` of the tenant or of
   * the key may stand.
   */
  timeout_ms?: number | undefined;
};

export type ExportQuery = {
  tenant?: string | undefined;
  instance?: string | undefined;
  type?: string | undefined;
  actor?: string | undefined;
  trigger?:
    | 'request'
    | 'idle'
    | 'schedule'
    | 'operator'
    | 'plan'
    | 'crash'
    | 'timeout'
    | 'reconcile'
    | 'quota'
    | 'memory'
    | 'pressure'
    | 'boot'
    | 'stop'
    | undefined;
  /** Lines of this request. What a job did has the id of the job. */
  request_id?: string | undefined;
  since?: number | string | undefined;
  until?: number | string | undefined;
  format: 'csv' | 'jsonl';
};

export type FileChange = {
  path: string;
  change: 'added' | 'removed' | 'changed';
  before: {
    size: number;
    mtime: number;
    sha256: string;
  } | null;
  now: {
    size: number;
    mtime: number;
    sha256: string;
  } | null;
};

export type FileInfo = {
  path: string;
  size: number;
  mtime: number;
};

export type FilesQuery = {
  prefix?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type FolderItem = {
  name: string;
  kind: 'file' | 'dir' | 'link';
  size: number;
  mtime: number;
};

export type FolderQuery = {
  path?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type ForgetTenantInput = {
  confirm?: string | undefined;
  dry_run?: boolean | undefined;
};

export type ForgettingStarted = {
  id: string;
  backups: Array<{
    id: string | null;
    time: number;
    to: string | null;
    gone_by: number | null;
  }>;
  set_aside: Array<string>;
  store: {
    objects: number;
    remain_until: number | null;
  };
  registry_moments_end: boolean;
};

export type FromMomentInput = {
  time?: number | undefined;
  moment?: string | undefined;
  name?: string | undefined;
  tenant?: string | undefined;
  reason?: string | undefined;
};

export type Health = {
  status: 'ok';
};

export type Host = {
  name: string;
  self: boolean;
  term: number;
  since: number;
  /** Where other hosts reach it */
  url: string | null;
  version: string | null;
  /** How many sandboxes may be awake at a time, and the memory of their processes */
  capacity: {
    active: number;
    memory_bytes: number | null;
  } | null;
  labels: Record<string, string>;
  /** Those that it has awake or on its disk; 10001: more than 10 000 */
  sandboxes: number;
  /** Those of them that are active; 10001: more than 10 000 */
  awake: number;
  /** It is being emptied, or was: it takes nothing new */
  draining: boolean;
  /** Null unless it is draining; `waiting`: the host has not begun */
  drain: {
    /** The job that does it; its results say what stays, and why */
    job: string;
    state: 'waiting' | 'running' | 'done' | 'cancelled';
    asked: number;
    reason: string | null;
    include_held: boolean;
    chosen: number;
    /** Those that are nobody’s now, or another host’s */
    done: number;
    failed: number;
    skipped: number;
  } | null;
  /** A server holds the name, or has ended without handing it back */
  held: boolean;
  /** It was not seen to renew its lease for as long as that lasts: what is on its disk cannot be reached */
  dead: boolean;
  /** Length of its lease; null: it has none, because nobody else reaches the registry */
  lease_ms: number | null;
  /** How often its lease was renewed in all */
  renewals: number;
  /** Of the last renewal, by its own clock */
  renewed: number | null;
  /** Of its data folder, as a did:key */
  public_key: string | null;
};

export type ImportQuery = {
  tenant: string;
  id?: string | undefined;
  name?: string | undefined;
  /** true: what has no valid signature is refused, whatever the server takes. */
  require_signed?: 'true' | 'false' | undefined;
};

export type Imported = {
  id: string;
  tenant: string;
  name: string | null;
  state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
  thermal: 'hot' | 'warm' | 'cold';
  warm_since: number | null;
  fault: 'error' | 'unknown' | 'corrupt' | 'missing' | null;
  fault_reason: string | null;
  pending: string | null;
  pending_since: number | null;
  interrupted: boolean;
  vfs_path: string | null;
  updated: number;
  created: number;
  state_since: number;
  idle_seconds: number;
  next: {
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    at: number;
    because: string;
  } | null;
  keep_hot: boolean;
  hold_until: number | null;
  ephemeral: boolean;
  policy: string;
  hot_to_warm_s: number | null;
  idle_to_suspend_s: number | null;
  idle_to_freeze_s: number | null;
  own_replicate: string | null;
  replicate: string;
  replicate_from_next_wake: boolean;
  recovery_point: {
    at: number | null;
    behind_s: number | null;
    as: 'live' | 'filed' | 'none';
  };
  attached: number;
  calls: number;
  bytes: number | null;
  labels: Record<string, string>;
  workbook: string | null;
  workbook_version: number | null;
  lineage: {
    blueprint: string | null;
    snapshot: string | null;
    parent: string | null;
  };
  stored: {
    address: string;
    generation: number;
    sha256: string;
    bytes: number;
    at: number;
  } | null;
  upload: 'none' | 'queued' | 'running';
  host: string | null;
  term: number | null;
  /**
   * Not null while `host` does not answer: the state is the one that the sandbox had there, and only that host has what
   * is newest
   */
  unreachable: {
    /** When that host renewed its lease last */
    last_seen: number | null;
    /** How far the object store has the sandbox; null: it has nothing of it */
    recovery_point: number | null;
    /** What a wake or a call has elsewhere: all that was answered, or what the replica has; null: none */
    goes_on: 'whole' | 'seconds' | null;
  } | null;
  imported: BundleOrigin;
};

export type Inspection = {
  manifest: Record<string, unknown> | null;
  verified: boolean;
  signed: boolean;
  issuer?: string | undefined;
  importable: boolean;
  problems: Array<string>;
  share?:
    | {
        id: string | null;
        verdict: 'unaltered' | 'altered' | 'unknown';
        altered: Array<string>;
        says: string;
      }
    | undefined;
};

export type Instance = {
  id: string;
  tenant: string;
  name: string | null;
  state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
  thermal: 'hot' | 'warm' | 'cold';
  warm_since: number | null;
  fault: 'error' | 'unknown' | 'corrupt' | 'missing' | null;
  fault_reason: string | null;
  pending: string | null;
  pending_since: number | null;
  interrupted: boolean;
  vfs_path: string | null;
  updated: number;
  created: number;
  state_since: number;
  idle_seconds: number;
  next: {
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    at: number;
    because: string;
  } | null;
  keep_hot: boolean;
  hold_until: number | null;
  ephemeral: boolean;
  policy: string;
  hot_to_warm_s: number | null;
  idle_to_suspend_s: number | null;
  idle_to_freeze_s: number | null;
  own_replicate: string | null;
  replicate: string;
  replicate_from_next_wake: boolean;
  recovery_point: {
    at: number | null;
    behind_s: number | null;
    as: 'live' | 'filed' | 'none';
  };
  attached: number;
  calls: number;
  bytes: number | null;
  labels: Record<string, string>;
  workbook: string | null;
  workbook_version: number | null;
  lineage: {
    blueprint: string | null;
    snapshot: string | null;
    parent: string | null;
  };
  stored: {
    address: string;
    generation: number;
    sha256: string;
    bytes: number;
    at: number;
  } | null;
  upload: 'none' | 'queued' | 'running';
  host: string | null;
  term: number | null;
  /**
   * Not null while `host` does not answer: the state is the one that the sandbox had there, and only that host has what
   * is newest
   */
  unreachable: {
    /** When that host renewed its lease last */
    last_seen: number | null;
    /** How far the object store has the sandbox; null: it has nothing of it */
    recovery_point: number | null;
    /** What a wake or a call has elsewhere: all that was answered, or what the replica has; null: none */
    goes_on: 'whole' | 'seconds' | null;
  } | null;
};

export type InstanceEventsQuery = {
  type?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type InstanceLife = {
  from: number;
  to: number;
  created: number;
  stretches: Array<{
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    from: number;
    to: number;
  }> | null;
  hops: Array<{
    time: number;
    from: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    trigger:
      | 'request'
      | 'idle'
      | 'schedule'
      | 'operator'
      | 'plan'
      | 'crash'
      | 'timeout'
      | 'reconcile'
      | 'quota'
      | 'memory'
      | 'pressure'
      | 'boot'
      | 'stop';
    source: 'local' | 'cold' | 'archive' | 'cloud' | 'snapshot' | 'blueprint' | 'fresh' | null;
    took_ms: number | null;
  }> | null;
  columns: Array<{
    from: number;
    to: number;
    states: Array<{
      state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
      seconds: number;
    }>;
    hops: number;
    wakes: number;
    faults: Array<'error' | 'unknown' | 'corrupt' | 'missing'>;
    lines: number;
    cut: boolean;
    estimated: boolean;
  }>;
};

export type InstanceLoad = {
  from: number;
  to: number;
  step: number;
  made_of: 'samples' | 'minutes' | 'hours';
  samples_since: number;
  points: Array<{
    time: number;
    measured_s: number | null;
    cpu_s: number;
    memory_bytes: number;
    calls: number;
    bytes_in: number | null;
    bytes_out: number | null;
    disk_bytes: number | null;
  }>;
};

export type InstanceNetwork = {
  rules: Array<{
    url: string;
    methods: Array<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'>;
    private: boolean;
  }> | null;
  requests_per_minute: number | null;
  bytes_per_day: number | null;
  updated: number | null;
  updated_by: string | null;
  /** The name of the person or key; null for one without a name, or that is gone. */
  updated_by_name: string | null;
  enabled: boolean;
  running_policy: string | null;
  enabled_now: boolean;
  allowed: {
    rules: Array<{
      url: string;
      methods: Array<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'>;
      private: boolean;
    }>;
    requests_per_minute: number;
    bytes_per_day: number;
  };
  bytes_today: number;
  since: number;
  reached: Array<{
    host: string;
    calls: number;
    refused: number;
    bytes_out: number;
    bytes_in: number;
  }>;
};

export type InstanceNetworkInput = {
  rules: Array<{
    /** A prefix like `https://api.example.com/v1/`, compared by whole segments, or `*`. */
    url: string;
    methods?: Array<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'> | undefined;
  }> | null;
  requests_per_minute?: number | null | undefined;
  bytes_per_day?: number | null | undefined;
};

export type InstanceSharesQuery = {
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type InstanceUsage = {
  from: number;
  to: number;
  step: number;
  points: Array<{
    time: number;
    cpu_s: number;
    calls: number;
    memory_bytes: number;
    disk_bytes: number | null;
  }>;
  total: {
    cpu_s: number;
    calls: number;
  };
};

export type Invitation = {
  id: string;
  email: string | null;
  role: 'admin' | 'operator' | 'support' | 'viewer';
  tenants: Array<string> | null;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  expires: number;
};

export type InviteInput = {
  email?: string | undefined;
  role: 'admin' | 'operator' | 'support' | 'viewer';
  tenants?: Array<string> | null | undefined;
};

export type Invited = {
  id: string;
  email: string | null;
  role: 'admin' | 'operator' | 'support' | 'viewer';
  tenants: Array<string> | null;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  expires: number;
  link: string;
};

export type Job = {
  id: string;
  verb: 'resume' | 'suspend' | 'freeze' | 'archive' | 'revive' | 'delete' | 'label' | 'forget' | 'drain';
  reason: string | null;
  labels: Record<string, string | null> | null;
  filter: JobFilter | null;
  include_held: boolean;
  state: 'running' | 'done' | 'cancelled';
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
  created: number;
  finished: number | null;
  chosen: number;
  done: number;
  failed: number;
  skipped: number;
};

export type JobFilter = {
  tenant?: string | undefined;
  state?: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | undefined;
  thermal?: 'hot' | 'warm' | 'cold' | undefined;
  fault?: 'error' | 'unknown' | 'corrupt' | 'missing' | undefined;
  name?: string | undefined;
  label?: string | undefined;
  host?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  pending?: 'any' | 'stuck' | undefined;
  due_since?: number | undefined;
  due_until?: number | undefined;
  idle_over?: number | undefined;
  idle_under?: number | undefined;
  q?: string | undefined;
};

export type JobResult = {
  instance: string | null;
  outcome: 'done' | 'failed' | 'skipped';
  reason: string | null;
  time_ms: number;
};

export type JobResultsQuery = {
  outcome?: 'done' | 'failed' | 'skipped' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type JobStarted = {
  id: string;
};

export type JobsQuery = {
  state?: 'running' | 'done' | 'cancelled' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type Key = {
  id: string;
  name: string;
  role: 'admin' | 'operator' | 'support' | 'viewer' | 'tenant';
  tenant: string | null;
  prefix: string;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  expires: number | null;
  max_call_s: number | null;
  last_used: number | null;
};

export type KeyInput = {
  name: string;
  role: 'admin' | 'operator' | 'support' | 'viewer' | 'tenant';
  tenant?: string | undefined;
  expires?: number | null | undefined;
  max_call_s?: number | null | undefined;
};

export type LedgerHead = {
  kind: 'winterdock.ledger.head/1';
  seq: number;
  hash: string;
  time_ms: number;
  epoch?: number | undefined;
  issuer: string;
  signature: string;
};

export type LedgerProof = {
  ok: boolean;
  flaw: {
    seq: number | null;
    why: string;
  } | null;
  lines: number;
  dropped: number;
  blanked: number;
  segments: number;
  last_seq: number;
  last_hash: string;
  signed_to: number;
  took_ms: number;
};

export type LedgerSegment = {
  id: string;
  first_seq: number;
  last_seq: number;
  lines: number;
  sealed: number;
  exported: number | null;
  dropped: number | null;
  head: SegmentHead;
};

export type LifeQuery = {
  from?: number | string | undefined;
  to?: number | string | undefined;
  columns?: number | string | undefined;
};

export type Lineage = {
  nodes: Array<{
    kind: 'instance' | 'snapshot' | 'blueprint';
    id: string;
    label: string | null;
    tenant: string | null;
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | null;
    deleted: boolean;
    bytes: number | null;
    disk_bytes: number | null;
    created: number | null;
  }>;
  edges: Array<{
    from: string;
    to: string;
  }>;
  truncated: boolean;
};

export type ListQuery = {
  tenant?: string | undefined;
  state?: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' | undefined;
  thermal?: 'hot' | 'warm' | 'cold' | undefined;
  fault?: 'error' | 'unknown' | 'corrupt' | 'missing' | undefined;
  name?: string | undefined;
  label?: string | undefined;
  host?: string | undefined;
  since?: number | string | undefined;
  until?: number | string | undefined;
  pending?: 'any' | 'stuck' | undefined;
  due_since?: number | string | undefined;
  due_until?: number | string | undefined;
  idle_over?: number | string | undefined;
  idle_under?: number | string | undefined;
  q?: string | undefined;
  sort?: 'updated' | '-updated' | 'created' | '-created' | 'name' | '-name' | 'bytes' | '-bytes' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type LoadQuery = {
  from?: number | string | undefined;
  to?: number | string | undefined;
  step?: number | string | undefined;
};

export type LogsQuery = {
  /** Lines from then on, in seconds since the epoch */
  since?: number | string | undefined;
  /** Lines up to then, in seconds since the epoch */
  until?: number | string | undefined;
  /** Lines of this level and of those above it */
  level?: 'debug' | 'info' | 'warn' | 'error' | undefined;
  /** Lines that this printed */
  source?: 'exec' | 'eval' | 'run' | 'terminal' | 'schedule' | 'component' | 'log' | undefined;
  /** Lines with this text in them, in any case */
  q?: string | undefined;
  /** Lines that this request printed */
  request_id?: string | undefined;
  /** `1`: an event stream, as with `Accept: text/event-stream`, that first has the newest lines */
  follow?: '0' | '1' | undefined;
  limit?: number | string | undefined;
  cursor?: number | string | undefined;
  /** Why; the ledger keeps it. Support needs one */
  reason?: string | undefined;
};

export type MakeBackupInput = {
  reason?: string | undefined;
};

export type MakeFolderInput = {
  path: string;
};

export type McpMessage = {
  jsonrpc: '2.0';
  id?: string | number | undefined;
  method?: string | undefined;
  params?: Record<string, unknown> | undefined;
  [name: string]: unknown;
};

export type McpMessageInput = {
  jsonrpc: '2.0';
  id?: string | number | undefined;
  method?: string | undefined;
  params?: Record<string, unknown> | undefined;
  [name: string]: unknown;
};

export type Me = {
  actor: string;
  role: 'admin' | 'operator' | 'support' | 'viewer' | 'tenant';
  tenants: Array<string> | null;
  person: {
    id: string;
    email: string;
    name: string;
  } | null;
  key: {
    id: string;
    name: string;
    expires: number | null;
  } | null;
  may: Array<string>;
  reads: Array<'workspace' | 'memory' | 'tmp'>;
};

export type Moment = {
  /** When it was committed, at the latest, in milliseconds */
  time_ms: number;
  /** `filing`: of a file that was at rest; `named`: kept until its name is removed */
  kind: 'commit' | 'filing' | 'named';
  /** Of one that is named */
  name: string | null;
  /** It is the last one of so many seconds at most: those before it may be gone */
  grain_s: number;
};

export type MomentsQuery = {
  /** Those next to this time, in seconds since the epoch; without it the newest */
  around?: number | string | undefined;
  /** Those that have a name alone */
  kind?: 'named' | undefined;
  limit?: number | string | undefined;
};

export type MoveInput = {
  from: string;
  to: string;
};

export type NameMomentInput = {
  time?: number | undefined;
  reason?: string | undefined;
};

export type PasswordChangeInput = {
  current: string;
  next: string;
};

export type PastQuery = {
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type PatchHostInput = {
  /** Instead of those that it has; a start with WB_HOST_LABELS sets its own */
  labels: Record<string, string>;
};

export type PatchInput = {
  name?: string | null | undefined;
  labels?: Record<string, string> | undefined;
  keep_hot?: boolean | undefined;
  hold_until?: number | null | undefined;
  /**
   * Idle seconds after which its process is paused in memory (`warm`), until the next request; 0: never. Changes no
   * state.
   */
  hot_to_warm_s?: number | null | undefined;
  idle_to_suspend_s?: number | null | undefined;
  /**
   * Another name of `idle_to_suspend_s`: idle seconds until it is suspended, or, ephemeral, archived and deleted. Both
   * are taken when they say the same.
   */
  timeout_secs?: number | null | undefined;
  idle_to_freeze_s?: number | null | undefined;
  replicate?: string | null | undefined;
  policy?: 'posix' | 'minimal' | 'compute' | 'network' | 'native' | undefined;
  workbook?: string | null | undefined;
  /** Of the workbook that is named, else of the one that it has; by default the newest. */
  workbook_version?: number | undefined;
  /** Docks it also when that breaks something that the sandbox has: a removed component, for example. */
  accept_changes?: boolean | undefined;
};

export type PatchScheduleInput = {
  cron?: string | undefined;
  timezone?: string | undefined;
  command?: string | undefined;
  component?: string | undefined;
  input?: Record<string, unknown> | undefined;
  timeout_ms?: number | null | undefined;
  missed?: 'skip' | 'once' | 'all' | undefined;
  paused?: boolean | undefined;
};

export type Person = {
  id: string;
  email: string;
  name: string;
  role: 'admin' | 'operator' | 'support' | 'viewer';
  tenants: Array<string> | null;
  disabled: boolean;
  created: number;
  sessions: number;
  signed_in: number | null;
};

export type PersonPatchInput = {
  name?: string | undefined;
  role?: 'admin' | 'operator' | 'support' | 'viewer' | undefined;
  tenants?: Array<string> | null | undefined;
  disabled?: boolean | undefined;
};

export type Plan = {
  id: string;
  from: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
  to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
  hops: Array<{
    from: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    verb: 'resume' | 'suspend' | 'freeze' | 'archive' | 'revive' | 'delete';
    passing: boolean;
  }>;
  losses: Array<{
    loss: 'process' | 'tmp' | 'everything';
    words: string;
  }>;
  calls: number;
  attached: number;
  tmp: {
    files: number;
    bytes: number;
  } | null;
  refusal: string | null;
};

export type PlanAnswer = {
  workbook: string | null;
  version: number | null;
  hash: string;
  title: string | null;
  plan: WorkbookPlan | null;
  problems: Array<PlanProblem>;
  durable: Array<string>;
  components: number;
};

export type PlanComponent = {
  name: string;
  path: string;
  lang: 'js' | 'ts' | 'python' | 'sh' | 'wasm';
  deps: Array<string>;
  uses: Array<'vfs' | 'log' | 'clock' | 'random' | 'fetch'>;
  in: Array<ComponentPort>;
  out: Array<ComponentPort>;
  persist: boolean;
  /** The whole memory of a WebAssembly module is what is kept (`:persist memory`). */
  persist_memory?: boolean | undefined;
  src: string;
  file?: string | undefined;
  schedule: PlanSchedule | null;
  line: number;
};

export type PlanProblem = {
  code:
    | 'syntax'
    | 'name'
    | 'duplicate'
    | 'language'
    | 'capability'
    | 'dependency'
    | 'input'
    | 'output_taken'
    | 'type'
    | 'cycle'
    | 'component_body'
    | 'schedule'
    | 'size'
    | 'depth'
    | 'count';
  message: string;
  mend: string;
  line: number;
  column: number;
  name?: string | undefined;
};

export type PlanQuery = {
  to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
};

export type PlanSchedule = {
  cron: string | null;
  timezone: string | null;
  at?: number | null | undefined;
  repeat?: string | null | undefined;
};

export type PlanWorld = {
  name: string;
  path: string;
  schedule: PlanSchedule | null;
  imports: Array<ComponentPort>;
  exports: Array<ComponentPort>;
  components: Array<PlanComponent>;
  edges: Array<{
    from: string;
    to: string;
    name?: string | undefined;
  }>;
  workflows: Array<PlanWorld>;
  deps: Array<string>;
  line: number;
};

export type PrefetchAnswer = {
  source: 'local' | 'cold' | 'archive' | 'cloud' | 'snapshot' | 'blueprint' | 'fresh';
  vfs_path: string | null;
};

export type PreviewAnswer = {
  within_s: number;
  more: {
    suspended: number;
    frozen: number;
    ended: number;
  };
  fewer: {
    suspended: number;
    frozen: number;
    ended: number;
  };
  cut: boolean;
};

export type PreviewInput = {
  tenant?: string | undefined;
  hot_to_warm_s?: number | null | undefined;
  idle_to_suspend_s?: number | null | undefined;
  idle_to_freeze_s?: number | null | undefined;
};

export type PrintedLine = {
  /** Grows from line to line; the place of a line in its log */
  seq: number;
  /** When it was printed, in milliseconds since the epoch */
  time_ms: number;
  instance: string;
  /** `log`: the log itself, of lines that it lacks */
  source: 'exec' | 'eval' | 'run' | 'terminal' | 'schedule' | 'component' | 'log';
  /** `log`: what a component logged */
  stream: 'stdout' | 'stderr' | 'log';
  /** What the line says itself at its beginning; else `warn` of stderr, and `info` */
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Without control characters. A line of more than 8192 characters is several. Secrets are asterisks */
  text: string;
  /** The request that caused it: the same as that of its lines in the ledger */
  request_id: string | null;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  hint?: string | undefined;
  request_id: string;
  errors?:
    | Array<{
        path: string;
        message: string;
      }>
    | undefined;
  [name: string]: unknown;
};

export type PutBackupSettingsInput = {
  enabled?: boolean | undefined;
  target?: string | null | undefined;
  cron?: string | undefined;
  timezone?: string | undefined;
  keep?:
    | {
        hourly: number;
        daily: number;
        weekly: number;
        monthly: number;
      }
    | undefined;
  with_keys?: boolean | undefined;
  trial_cron?: string | null | undefined;
};

export type RawQuery = {
  part?: 'file' | 'log' | undefined;
  reason?: string | undefined;
};

export type Readiness = {
  status: 'ok' | 'degraded';
  because?: Array<string> | undefined;
  walls: {
    net: boolean;
    uid: boolean;
    caps: boolean;
    files: boolean;
  };
};

export type RestoreBackupInput = {
  instance?: string | undefined;
  as?: string | undefined;
  reason?: string | undefined;
  dry_run?: boolean | undefined;
};

export type RestoreInput = {
  tenant?: string | undefined;
  count?: number | undefined;
  name?: string | undefined;
  policy?: 'posix' | 'minimal' | 'compute' | 'network' | 'native' | undefined;
  start?: boolean | undefined;
};

export type RestoreInstanceInput = {
  snapshot?: string | undefined;
  time?: number | undefined;
  moment?: string | undefined;
  reason?: string | undefined;
};

export type Restored = Instance | RestoredMoment;

export type RestoredMoment = {
  used: number;
  undo: {
    moment: string;
  } | null;
  instance: Instance;
};

export type ResumeAnswer = {
  path: 'warm' | 'cold';
  result?: 'already_active' | undefined;
  source?: 'local' | 'cold' | 'archive' | 'cloud' | 'snapshot' | 'blueprint' | 'fresh' | undefined;
  vfs_path: string;
  took_ms: number;
  instance: Instance;
};

export type ResumeInput = {
  policy?: 'posix' | 'minimal' | 'compute' | 'network' | 'native' | undefined;
  force?: boolean | undefined;
  from?: 'stored' | undefined;
  reason?: string | undefined;
};

export type RunOutput = {
  run: SandboxRun;
  pieces: Array<RunPiece>;
  dropped: number;
  next: number;
};

export type RunOutputQuery = {
  /** The byte to begin with, of both outputs together. Default: 0. */
  offset?: number | string | undefined;
  /** Bytes of an answer, about. Not of a stream. */
  limit?: number | string | undefined;
};

export type RunPiece = {
  stream: 'stdout' | 'stderr';
  offset: number;
  text: string;
  /** There when `text` is in base64, being no UTF-8. */
  encoding?: 'base64' | undefined;
};

export type RunPlanInput = {
  to: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
  reason?: string | undefined;
  force?: boolean | undefined;
};

export type RunsQuery = {
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type SalvageAnswer = {
  recovered: number;
  recovered_bytes: number;
  lost: Array<{
    volume: 'workspace' | 'memory' | 'tmp' | null;
    path: string | null;
    why: string;
  }>;
  lost_count: number;
  list: string | null;
  instance: Instance;
};

export type SalvageInput = {
  id?: string | undefined;
  name?: string | undefined;
  reason?: string | undefined;
};

export type SandboxRun = {
  id: string;
  instance: string;
  command: string;
  language: 'shell' | 'js' | 'python';
  cwd: string;
  terminal: string | null;
  state: 'queued' | 'running' | 'done' | 'stopped' | 'failed' | 'lost';
  created: number;
  started: number | null;
  ended: number | null;
  took_ms: number | null;
  exit_code: number | null;
  timed_out: boolean;
  reason: string | null;
  woke: 'hot' | 'warm' | 'cold' | null;
  output_bytes: number;
  output_start: number;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
};

export type Schedule = {
  id: string;
  instance: string;
  cron: string | null;
  at: number | null;
  repeat: string | null;
  timezone: string;
  command: string | null;
  component: string | null;
  input?: Record<string, unknown> | undefined;
  timeout_ms: number | null;
  missed: 'skip' | 'once' | 'all';
  paused: boolean;
  source: 'api' | 'workbook';
  next_at: number | null;
  last_at: number | null;
  last_result: 'done' | 'failed' | 'skipped' | 'lost' | null;
  last_took_ms: number | null;
  failures: number;
  fault: string | null;
  resting: boolean;
  created_at: number;
};

export type ScheduleRun = {
  id: string;
  schedule: string;
  planned_at: number | null;
  missed: boolean;
  started_ms: number;
  took_ms: number | null;
  result: 'done' | 'failed' | 'skipped' | 'lost' | null;
  error: string | null;
  exit_code: number | null;
  woke: 'hot' | 'warm' | 'cold' | null;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
};

export type SchedulesQuery = {
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type SearchHit = {
  volume: 'workspace' | 'memory' | 'tmp';
  path: string;
  line?: number | undefined;
  text?: string | undefined;
};

export type SearchQuery = {
  q: string;
  volume?: 'workspace' | 'memory' | 'tmp' | undefined;
  in?: 'name' | 'content' | undefined;
  limit?: number | string | undefined;
  /**
   * As of the newest moment of the replica up to then, in seconds since the epoch; a whole number means the end of that
   * second
   */
  at?: number | string | undefined;
};

export type Secret = {
  name: string;
  of: 'tenant' | 'sandbox';
  url: string;
  header: string;
  format: string;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  updated: number;
  updated_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  updated_by_name: string | null;
  /** To the minute; null: not since it was set. */
  last_used: number | null;
  /** False: the server’s key does not open it. It has to be set again. */
  opens: boolean;
};

export type SecretInput = {
  /** Encrypted as it comes in. No answer ever holds it again. */
  value: string;
  /**
   * Requests to this address and below it carry the secret: `https://api.example.com/v1/`. Without TLS only to a host
   * that the tenant’s network list has as private.
   */
  url: string;
  header?: string | undefined;
  /** The value of the header, with `{}` in the place of the secret. */
  format?: string | undefined;
};

export type SegmentHead = {
  kind: 'winterdock.ledger.segment/1';
  id: string;
  first_seq: number;
  last_seq: number;
  lines: number;
  previous_hash: string;
  first_hash: string;
  last_hash: string;
  sealed_ms: number;
  issuer: string;
  signature: string;
};

export type Session = {
  id: string;
  created: number;
  expires: number;
  address: string | null;
  agent: string | null;
  current: boolean;
};

export type Settings = {
  hot_to_warm_s: number;
  idle_to_suspend_s: number;
  idle_to_freeze_s: number;
};

export type SettingsPatchInput = {
  /**
   * Idle seconds after which its process is paused in memory (`warm`), until the next request; 0: never. Changes no
   * state.
   */
  hot_to_warm_s?: number | undefined;
  idle_to_suspend_s?: number | undefined;
  idle_to_freeze_s?: number | undefined;
};

export type Share = {
  id: string;
  instance: string;
  tenant: string;
  format: 'wbundle/1';
  volumes: Array<'workspace' | 'memory' | 'tmp'>;
  private_included: boolean;
  signed: boolean;
  issuer: string | null;
  sha256: string;
  bytes: number;
  members: Record<
    string,
    {
      sha256: string;
      bytes: number;
    }
  >;
  created: number;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
};

export type SharesQuery = {
  tenant?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type ShipInput = {
  include_private?: boolean | undefined;
  /** As of the newest moment up to then, in seconds since the epoch, which the manifest names */
  at?: number | undefined;
  reason?: string | undefined;
  /** html: its page, with the whole bundle in it, as one file that a browser shows and saves the bundle from. */
  format?: 'zip' | 'html' | undefined;
};

export type SimulateInput = {
  tenant?: string | undefined;
  idle_to_suspend_s?: number | undefined;
  idle_to_freeze_s?: number | undefined;
  days?: number | undefined;
  curve?: Array<number> | undefined;
};

export type Simulation = {
  since: number;
  until: number;
  lines: number;
  first: number | null;
  idle_ends: number;
  cut: boolean;
  idle_to_suspend_s: number;
  idle_to_freeze_s: number;
  was: {
    process_hours: number;
    cold_wakes: number;
    thaws: number;
  };
  would: {
    process_hours: number;
    cold_wakes: number;
    thaws: number;
  };
  estimated_wakes: number;
  curve: Array<{
    idle_to_suspend_s: number;
    would: {
      process_hours: number;
      cold_wakes: number;
      thaws: number;
    };
    estimated_wakes: number;
  }>;
};

export type Snapshot = {
  id: string;
  tenant: string;
  tag: string | null;
  source: string;
  hash: string;
  bytes: number;
  volumes: Array<'workspace' | 'memory' | 'tmp'>;
  contents: Array<{
    volume: 'workspace' | 'memory' | 'tmp';
    files: number;
    bytes: number;
  }>;
  created: number;
  actor: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  actor_name: string | null;
  instances: number;
};

export type SnapshotsQuery = {
  tenant?: string | undefined;
  tag?: string | undefined;
  source?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type SqlAnswer = {
  columns: Array<string>;
  rows: Array<Array<unknown>>;
  truncated: boolean;
};

export type SqlInput = {
  sql: string;
  params?: Array<string | number | null> | Record<string, string | number | null> | undefined;
};

export type StartJobInput = {
  verb: 'resume' | 'suspend' | 'freeze' | 'archive' | 'revive' | 'delete' | 'label';
  reason?: string | undefined;
  filter?: JobFilter | undefined;
  ids?: Array<string> | undefined;
  labels?: Record<string, string | null> | undefined;
  include_held?: boolean | undefined;
  dry_run?: boolean | undefined;
};

export type StartRunInput = {
  command: string;
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  /** Text for its stdin, in UTF-8. */
  stdin?: string | undefined;
  /**
   * Milliseconds from its turn on, at most `WB_MAX_RUN`, or `max_run_s` of the tenant. Without it, the time that the
   * policy of the instance gives a call.
   */
  timeout_ms?: number | undefined;
};

export type Storage = {
  registry: {
    file: string | null;
    inside_data: boolean;
    bytes: number;
    wal_bytes: number;
    free_bytes: number;
    checkpointed: number | null;
    check: {
      time: number;
      took_ms: number;
      ok: boolean;
      says: string;
    } | null;
  };
  ledger: {
    seq: number;
    sealed: number;
    dropped: number;
    last_sealed: string | null;
    open_lines: number;
  };
  drawers: Array<{
    drawer: 'live' | 'cold' | 'archive';
    rows: number;
    bytes: number;
    writable: boolean;
    same_disk: boolean;
  }>;
  measured: {
    time: number;
    took_ms: number;
    drawers: Array<{
      drawer: string;
      files: number;
      bytes: number;
    }>;
    rows: {
      live: number;
      cold: number;
      archive: number;
    };
  } | null;
  scrub: {
    walk: {
      begun: number;
      files: number;
      bytes: number;
      rotten: number;
    } | null;
    last: {
      begun: number;
      ended: number;
      files: number;
      bytes: number;
      rotten: number;
    } | null;
    next: number | null;
  };
  store: {
    url: string;
    ack: 'stored' | 'queued';
    away: {
      since: number;
      why: string;
    } | null;
    lacks: Array<string> | null;
    rows: number;
    uploads: {
      queued: number;
      running: number;
      since: number | null;
    };
    cache: {
      bytes: number;
      limit_bytes: number;
    };
    leaving: {
      since: number;
      sandboxes: {
        left: number;
        of: number;
      };
      copies: {
        left: number;
        of: number;
      };
      bytes: {
        left: number;
        of: number;
      };
      stays: Array<{
        name: string;
        why: string;
      }>;
      done: boolean;
    } | null;
  } | null;
  disk: {
    bytes: number;
    free_bytes: number;
  };
  places: {
    serving: number;
    spare: number;
    ahead: number;
    most: number;
  };
  memory: {
    serving_bytes: number;
    spare_bytes: number;
    limit_bytes: number | null;
  };
  cpu: {
    shared_by: 'cgroup_v2' | 'cgroup_v1' | 'priorities';
  };
  walls: Array<{
    wall: 'net' | 'uid' | 'caps' | 'files' | 'pid' | 'ipc' | 'seccomp';
    missing: string | null;
  }>;
  backup: {
    time: number;
    sandboxes: number;
    bytes: number;
    keys: boolean;
    wrong: number;
    to: string;
  } | null;
  kept: Array<{
    name:
      | 'ledger'
      | 'sandbox_hours'
      | 'tenant_hours'
      | 'network_hours'
      | 'cpu_days'
      | 'wake_times'
      | 'jobs'
      | 'job_results'
      | 'runs'
      | 'schedule_runs'
      | 'webhook_deliveries'
      | 'workbook_versions';
    rows: number;
    more: boolean;
    about_bytes: number;
    limits: Array<{
      setting: string | null;
      value: number | null;
      unit: 'days' | 'rows' | 'each';
    }>;
  }>;
  replication: {
    url: string;
    replicate: string;
    retention: string;
    month: {
      requests: number;
      bytes: number;
    } | null;
    away: {
      since: number;
      why: string;
    } | null;
    spool: {
      bytes: number;
      limit_bytes: number;
      refused: {
        since: number;
        why: string;
      } | null;
    };
    lag: {
      open: number;
      behind: number;
      max_s: number;
      mean_s: number;
      registry_s: number;
    };
    registry_gap: {
      at: number;
      why: string;
    } | null;
    waiting: number;
    requests: {
      count: number;
      shared: boolean;
    };
    late: {
      since: number;
      sandboxes: number;
      registry: boolean;
      most_s: number;
    } | null;
  } | null;
  running: Array<'registry' | 'drawers'>;
};

export type StorageCheckInput = {
  what: 'registry' | 'drawers';
};

export type StreamQuery = {
  tenant?: string | undefined;
  instance?: string | undefined;
  type?: string | undefined;
  actor?: string | undefined;
  trigger?:
    | 'request'
    | 'idle'
    | 'schedule'
    | 'operator'
    | 'plan'
    | 'crash'
    | 'timeout'
    | 'reconcile'
    | 'quota'
    | 'memory'
    | 'pressure'
    | 'boot'
    | 'stop'
    | undefined;
  last_event_id?: number | string | undefined;
  with?: 'changes' | undefined;
};

export type TakeBackInput = {
  path: string;
  time?: number | undefined;
  moment?: string | undefined;
  reason?: string | undefined;
};

export type TakeSnapshotInput = {
  tag?: string | undefined;
};

export type TakenBack = {
  /** Of the moment, in seconds since the epoch with fractions */
  used: number;
  /** Files and links */
  files: number;
  bytes: number;
};

export type Tenant = {
  tenant: string;
  counts: Record<'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted', number>;
  bytes: {
    total: number;
    live: number;
    cold: number;
    archive: number;
    none: number;
  };
  volumes: {
    sandboxes: number;
    workspace: number;
    memory: number;
    tmp: number;
  };
  hot_to_warm_s: number | null;
  idle_to_suspend_s: number | null;
  idle_to_freeze_s: number | null;
  max_run_s: number | null;
  max_call_s: number | null;
  replicate: string | null;
  thresholds: {
    hot_to_warm_s: number;
    idle_to_suspend_s: number;
    idle_to_freeze_s: number;
  };
  quotas: {
    max_sandboxes: {
      limit: number | null;
      used: number;
    };
    max_active: {
      limit: number | null;
      used: number;
    };
    max_bytes: {
      limit: number | null;
      used: number;
    };
    max_daily_cpu_s: {
      limit: number | null;
      used: number;
    };
  };
  forgetting: {
    job: string;
    started: number;
    finished: number | null;
  } | null;
};

export type TenantForgetPlan = {
  tenant: string;
  sandboxes: Record<'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted', number>;
  kept: Array<{
    id: string;
    name: string | null;
    state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted';
    why: 'keep_hot' | 'held';
  }>;
  kept_count: number;
  snapshots: number;
  blueprints: Array<string>;
  clones: number;
  shares: number;
  workbooks: number;
  keys: number;
  people: number;
  sessions: number;
  limited: number;
  invitations: number;
  jobs: number;
  lines: number;
  orphans: number;
  doubtful: Array<string>;
  registry_copies: Array<string>;
  registry_bytes: number;
  backups: Array<{
    id: string | null;
    time: number;
    to: string | null;
    gone_by: number | null;
  }>;
  set_aside: Array<string>;
  store: {
    objects: number;
    remain_until: number | null;
  };
  registry_moments_end: boolean;
};

export type TenantNetwork = {
  tenant: string;
  rules: Array<{
    url: string;
    methods: Array<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'>;
    private: boolean;
  }> | null;
  requests_per_minute: number | null;
  bytes_per_day: number | null;
  updated: number | null;
  updated_by: string | null;
  /** The name of the person or key; null for one without a name, or that is gone. */
  updated_by_name: string | null;
};

export type TenantNetworkInput = {
  rules: Array<{
    /** A prefix like `https://api.example.com/v1/`, compared by whole segments, or `*`. */
    url: string;
    methods?: Array<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'> | undefined;
    /** The name may have an address that is not public, and plain http is given secrets. */
    private?: boolean | undefined;
  }>;
  requests_per_minute?: number | null | undefined;
  bytes_per_day?: number | null | undefined;
};

export type TenantPatchInput = {
  /**
   * Idle seconds after which its process is paused in memory (`warm`), until the next request; 0: never. Changes no
   * state.
   */
  hot_to_warm_s?: number | null | undefined;
  idle_to_suspend_s?: number | null | undefined;
  idle_to_freeze_s?: number | null | undefined;
  max_sandboxes?: number | null | undefined;
  max_active?: number | null | undefined;
  max_bytes?: number | null | undefined;
  max_daily_cpu_s?: number | null | undefined;
  /** The longest time of a run, in place of `WB_MAX_RUN`. Null takes it away. */
  max_run_s?: number | null | undefined;
  max_call_s?: number | null | undefined;
  replicate?: string | null | undefined;
};

export type TenantUsage = {
  from: number;
  to: number;
  step: number;
  points: Array<{
    time: number;
    cpu_s: number;
    calls: number;
    memory_bytes: number;
    disk_bytes: number;
    wakes: number;
    faults: number;
    awake_s: number;
  }>;
  total: {
    cpu_s: number;
    calls: number;
    wakes: number;
    faults: number;
    awake_s: number;
  };
  complete: boolean;
};

export type TenantsQuery = {
  q?: string | undefined;
  own_thresholds?: 'true' | 'false' | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type Terminal = {
  id: string;
  instance: string;
  number: number;
  created: number;
  ended: number | null;
  cwd: string;
  run: string | null;
  shown: number;
  gone: string | null;
};

export type TerminalLineInput = {
  text: string;
  language?: 'shell' | 'js' | 'python' | undefined;
};

export type TopLoad = {
  from: number;
  to: number;
  step: number;
  made_of: 'samples' | 'minutes' | 'hours';
  samples_since: number;
  points: Array<{
    time: number;
    measured_s: number | null;
    cpu_s: number;
    memory_bytes: number;
    calls: number;
    bytes_in: number | null;
    bytes_out: number | null;
    disk_bytes: number | null;
  }>;
  top: Array<{
    name: string;
    cpu_s: number;
    memory_bytes: number;
    calls: number;
    bytes_in: number;
    bytes_out: number;
  }>;
};

export type TopLoadQuery = {
  from?: number | string | undefined;
  to?: number | string | undefined;
  step?: number | string | undefined;
  top?: number | string | undefined;
};

export type UndoRestoreInput = {
  reason?: string | undefined;
};

export type UpgradeAnswer = {
  from: number;
  to: number;
  breaking: boolean;
  changes: Array<UpgradeChange>;
};

export type UpgradeChange = {
  kind:
    | 'removed_component'
    | 'changed_output'
    | 'changed_input'
    | 'new_capability'
    | 'dropped_persist'
    | 'added_component'
    | 'changed_code';
  component: string;
  message: string;
  breaking: boolean;
};

export type UpgradeQuery = {
  tenant?: string | undefined;
  from: number | string;
  to?: number | string | undefined;
};

export type UsageQuery = {
  from?: number | string | undefined;
  to?: number | string | undefined;
  step?: number | string | undefined;
};

export type Variable = {
  name: string;
  /** Null without a value, and for roles that see names alone. */
  value: string | null;
  /** False: it came with a copy or a bundle by its name, and wants a value. */
  is_set: boolean;
  /** Whose value it is. */
  from: 'tenant' | 'blueprint' | 'snapshot' | 'sandbox';
};

export type VerbBodyInput = {
  reason?: string | undefined;
  force?: boolean | undefined;
};

export type VolumeInfo = {
  volume: 'workspace' | 'memory' | 'tmp';
  files: number;
  bytes: number;
  survives_resume: boolean;
  ships: boolean;
};

export type WakeTime = {
  path: 'warm' | 'cold';
  source: 'local' | 'cold' | 'archive' | 'cloud' | 'snapshot' | 'blueprint' | 'fresh' | null;
  count: number;
  mean_ms: number;
  p50_ms: number;
  p99_ms: number;
  buckets: Array<{
    le_ms: number | null;
    count: number;
  }>;
};

export type WakeTimesQuery = {
  days?: number | string | undefined;
};

export type Webhook = {
  id: string;
  name: string;
  url: string;
  tenant: string | null;
  types: Array<string> | null;
  enabled: boolean;
  off_reason: string | null;
  failures: number;
  failing_since_ms: number | null;
  last_success_ms: number | null;
  pending: number;
  old_secret_until: number | null;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
};

export type WebhookDelivery = {
  id: string;
  webhook: string;
  seq: number | null;
  type: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  created_ms: number;
  next_ms: number | null;
  attempted_ms: number | null;
  took_ms: number | null;
  status: number | null;
  error: string | null;
};

export type WebhookInput = {
  name: string;
  url: string;
  tenant?: string | undefined;
  types?: Array<string> | null | undefined;
};

export type WebhookPatchInput = {
  name?: string | undefined;
  url?: string | undefined;
  types?: Array<string> | null | undefined;
  enabled?: boolean | undefined;
  resume_from?: 'stopped' | 'now' | undefined;
};

export type WebhookSecret = {
  id: string;
  name: string;
  url: string;
  tenant: string | null;
  types: Array<string> | null;
  enabled: boolean;
  off_reason: string | null;
  failures: number;
  failing_since_ms: number | null;
  last_success_ms: number | null;
  pending: number;
  old_secret_until: number | null;
  created: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
  secret: string;
};

export type WebhooksQuery = {
  tenant?: string | undefined;
};

export type Workbook = {
  id: string;
  tenant: string;
  title: string | null;
  version: number;
  hash: string;
  bytes: number;
  components: number | null;
  problems: number;
  created_at: number;
  updated_at: number;
  updated_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  updated_by_name: string | null;
  docked: number;
};

export type WorkbookPlan = {
  worlds: Array<PlanWorld>;
};

export type WorkbookQuery = {
  tenant?: string | undefined;
};

export type WorkbookVersion = {
  version: number;
  hash: string;
  bytes: number;
  components: number | null;
  problems: number;
  created_at: number;
  created_by: string;
  /** The name of the person or key; null for one without a name, or that is gone. */
  created_by_name: string | null;
};

export type WorkbookVersionQuery = {
  tenant?: string | undefined;
  version?: number | string | undefined;
};

export type WorkbookVersionsQuery = {
  tenant?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type WorkbooksQuery = {
  tenant?: string | undefined;
  q?: string | undefined;
  limit?: number | string | undefined;
  cursor?: string | undefined;
};

export type WorkflowCallAnswer = {
  outputs: Record<string, unknown>;
  components: Array<{
    path: string;
    state: 'done' | 'failed' | 'skipped';
    output?: unknown | undefined;
    error?:
      | {
          message: string;
          component?: string | undefined;
          kind: 'input' | 'output' | 'capability' | 'component' | 'timeout' | 'memory' | 'state' | 'dependency';
        }
      | undefined;
    took_ms: number;
    because?: string | undefined;
  }>;
  logs: Array<{
    stream: 'stdout' | 'stderr' | 'log';
    text: string;
    component?: string | undefined;
  }>;
  timed_out: boolean;
  took_ms: number;
  woke: 'hot' | 'warm' | 'cold';
};

export type WorkflowCallInput = {
  /** The inputs by their names. */
  input?: Record<string, unknown> | undefined;
  /**
   * Milliseconds of the whole call; more than `WB_MAX_CALL_MS` is refused. One component has no more of it than an
   * `exec` may ask for.
   */
  timeout_ms?: number | undefined;
  world?: string | undefined;
};
