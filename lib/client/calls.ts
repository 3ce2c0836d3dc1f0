/** The table of calls, printed from the route table by `npm run client:calls`. Not to be written by hand. */
import type { Volume } from '../vfs/volumes.ts';
import type { Download } from './bytes.ts';
import type { CallLine, CallOptions, Upload, Written } from './call.ts';
import type { Pages } from './pages.ts';
import type {
  AcknowledgeInput,
  Attachment,
  Attention,
  AttentionQuery,
  Backup,
  BackupRestore,
  BackupSettings,
  BackupsQuery,
  Blueprint,
  BlueprintsQuery,
  CheckoutQuery,
  CloneInput,
  CompareQuery,
  Comparison,
  Completion,
  CompletionQuery,
  ComponentCallAnswer,
  ComponentCallInput,
  CreateBlueprintInput,
  CreateBlueprintQuery,
  CreatedKey,
  CreateInput,
  CreateScheduleInput,
  Database,
  DatabaseQuery,
  DatabaseRows,
  DatabaseRowsQuery,
  DeleteFolderQuery,
  DeleteInput,
  DeliveriesQuery,
  DrainHostInput,
  DryRun,
  EndSessionQuery,
  EnvPatchInput,
  EvalAnswer,
  EvalInput,
  Event,
  EventsQuery,
  ExecAnswer,
  ExecInput,
  ExportQuery,
  FileInfo,
  FilesQuery,
  FolderItem,
  FolderQuery,
  ForgetTenantInput,
  ForgettingStarted,
  FromMomentInput,
  Health,
  Host,
  Imported,
  ImportQuery,
  Inspection,
  Instance,
  InstanceEventsQuery,
  InstanceLife,
  InstanceLoad,
  InstanceNetwork,
  InstanceNetworkInput,
  InstanceSharesQuery,
  InstanceUsage,
  Invitation,
  Invited,
  InviteInput,
  Job,
  JobResult,
  JobResultsQuery,
  JobStarted,
  JobsQuery,
  Key,
  KeyInput,
  LedgerHead,
  LedgerProof,
  LedgerSegment,
  LifeQuery,
  Lineage,
  ListQuery,
  LoadQuery,
  LogsQuery,
  MakeBackupInput,
  MakeFolderInput,
  McpMessage,
  McpMessageInput,
  Me,
  Moment,
  MomentsQuery,
  MoveInput,
  NameMomentInput,
  PasswordChangeInput,
  PastQuery,
  PatchHostInput,
  PatchInput,
  PatchScheduleInput,
  Person,
  PersonPatchInput,
  Plan,
  PlanAnswer,
  PlanQuery,
  PrefetchAnswer,
  PreviewAnswer,
  PreviewInput,
  PrintedLine,
  PutBackupSettingsInput,
  RawQuery,
  Readiness,
  RestoreBackupInput,
  Restored,
  RestoredMoment,
  RestoreInput,
  RestoreInstanceInput,
  ResumeAnswer,
  ResumeInput,
  RunOutput,
  RunOutputQuery,
  RunPlanInput,
  RunsQuery,
  SalvageAnswer,
  SalvageInput,
  SandboxRun,
  Schedule,
  ScheduleRun,
  SchedulesQuery,
  SearchHit,
  SearchQuery,
  Secret,
  SecretInput,
  Session,
  Settings,
  SettingsPatchInput,
  Share,
  SharesQuery,
  ShipInput,
  SimulateInput,
  Simulation,
  Snapshot,
  SnapshotsQuery,
  SqlAnswer,
  SqlInput,
  StartJobInput,
  StartRunInput,
  Storage,
  StorageCheckInput,
  StreamQuery,
  TakeBackInput,
  TakenBack,
  TakeSnapshotInput,
  Tenant,
  TenantForgetPlan,
  TenantNetwork,
  TenantNetworkInput,
  TenantPatchInput,
  TenantsQuery,
  TenantUsage,
  Terminal,
  TerminalLineInput,
  TopLoad,
  TopLoadQuery,
  UndoRestoreInput,
  UpgradeAnswer,
  UpgradeQuery,
  UsageQuery,
  Variable,
  VerbBodyInput,
  VolumeInfo,
  WakeTime,
  WakeTimesQuery,
  Webhook,
  WebhookDelivery,
  WebhookInput,
  WebhookPatchInput,
  WebhookSecret,
  WebhooksQuery,
  Workbook,
  WorkbookQuery,
  WorkbooksQuery,
  WorkbookVersion,
  WorkbookVersionQuery,
  WorkbookVersionsQuery,
  WorkflowCallAnswer,
  WorkflowCallInput,
} from './types.ts';

/** Every operation of the route table. */
export interface Calls {
  /**
   * Lists instances, newest activity first, a page at a time; `since` and `until` bound their last state change or
   * activity, `idle_over` and `idle_under` the seconds since then, `due_since` and `due_until` their next automatic
   * move; `pending` asks for those with an operation under way, `host` for those that a server has awake or on its
   * disk. Looking wakes nothing.
   */
  listInstances(query?: ListQuery, options?: CallOptions): Pages<Instance>;
  /** Creates an instance. It has no process and no file until its first resume or call. */
  createInstance(input: CreateInput, options?: CallOptions): Promise<Instance>;
  /** Shows an instance. Looking wakes nothing. */
  getInstance(id: string, options?: CallOptions): Promise<Instance>;
  /**
   * Changes settings that need no transition. A policy takes effect at the next start of a process. With `If-Match`
   * nothing is changed when somebody changed the settings meanwhile.
   */
  patchInstance(id: string, input?: PatchInput, options?: CallOptions): Promise<Instance>;
  /** Deletes an archived instance for good. Its id is never used again. */
  deleteInstance(id: string, input?: DeleteInput, options?: CallOptions): Promise<void>;
  /** Wakes an instance from any state but deleted. `force` clears a fault and tries once more. */
  resumeInstance(id: string, input?: ResumeInput, options?: CallOptions): Promise<ResumeAnswer>;
  /** Moves the file to the live drawer without starting a process. It is filed again when no call follows. */
  prefetchInstance(id: string, options?: CallOptions): Promise<PrefetchAnswer>;
  /**
   * Completes or undoes an interrupted operation (`interrupted`) by looking at the file, as a start of the server does.
   * Without one nothing changes.
   */
  settleInstance(id: string, options?: CallOptions): Promise<Instance>;
  /** Ends the process and keeps the file where it is. An ephemeral instance ends at its time instead: `conflict`. */
  suspendInstance(id: string, input?: VerbBodyInput, options?: CallOptions): Promise<Instance>;
  /** Files a suspended instance into the cold drawer. An ephemeral one is never frozen: `conflict`. */
  freezeInstance(id: string, input?: VerbBodyInput, options?: CallOptions): Promise<Instance>;
  /** Files an active or frozen instance away; only resume or revive brings it back. */
  archiveInstance(id: string, input?: VerbBodyInput, options?: CallOptions): Promise<Instance>;
  /** Brings an archived instance back to active. */
  reviveInstance(id: string, input?: VerbBodyInput, options?: CallOptions): Promise<Instance>;
  /**
   * Runs a shell script. Wakes a sleeping sandbox. Any byte may go in (`stdin_base64`) and come out: an output that is
   * no UTF-8 comes in base64, and its encoding says so. With `Accept: text/event-stream` the events `woke`, `stdout`,
   * `stderr` and `exit` are sent as they happen; a piece of output is `{"text"}`, or `{"text","encoding":"base64"}`
   * when it is bytes, and no piece ends within a character. Closing the connection stops the script.
   */
  execInInstance(id: string, input: ExecInput, options?: CallOptions): Promise<ExecAnswer>;
  /** Evaluates JavaScript or Python. Wakes a sleeping sandbox. Closing the connection stops it. */
  evalInInstance(id: string, input: EvalInput, options?: CallOptions): Promise<EvalAnswer>;
  /**
   * Keeps an instance in its state while a terminal is open: no automatic moves. Wakes nothing. The caller makes up the
   * id of the attachment and renews it by the same call; one that is not renewed ends.
   */
  attachToInstance(id: string, attachment: string, options?: CallOptions): Promise<Attachment>;
  /** Ends an attachment: the idle clock starts. */
  detachFromInstance(id: string, attachment: string, options?: CallOptions): Promise<void>;
  /**
   * Begins a shell script that outlives this request, and answers when that is recorded. It wakes a sleeping instance,
   * takes its turn among the calls, and counts as one: it is activity, and filing waits for it, or ends it. After a
   * restart of the server it is `lost`.
   */
  startRun(id: string, input: StartRunInput, options?: CallOptions): Promise<SandboxRun>;
  /** Lists the runs of an instance, newest first: those under way, and as many ended ones as it keeps. */
  listRuns(id: string, query?: RunsQuery, options?: CallOptions): Pages<SandboxRun>;
  /** Shows a run: whether it is under way, or how it ended. */
  getRun(id: string, run: string, options?: CallOptions): Promise<SandboxRun>;
  /**
   * Reads the output of a run so far. The server keeps the newest part of it in memory; `dropped` says what is missing.
   * Offsets count the bytes of both outputs together. With `Accept: text/event-stream` it follows the run: events `run`
   * as its state changes, `stdout` and `stderr`, `gap` for what is no longer there, and at last `exit`. The id of an
   * event is the offset after it: `Last-Event-ID` goes on at exactly that byte. Closing the connection does not stop
   * the run.
   */
  getRunOutput(id: string, run: string, query?: RunOutputQuery, options?: CallOptions): Promise<RunOutput>;
  /**
   * Stops a run, and answers with its end, or, when that takes longer than three seconds, without. What its commands
   * wrote until then stays. One that has ended stays as it is.
   */
  stopRun(id: string, run: string, options?: CallOptions): Promise<SandboxRun>;
  /**
   * Reads what calls, runs, terminals, schedules and components printed in an instance, the newest line first. Wakes
   * nothing. With `follow=1` or `Accept: text/event-stream` it follows: events `line`, the oldest first, and `gap`
   * where lines are missing; `Last-Event-ID`, or `cursor`, goes on after that line. Support needs a `reason`, which the
   * ledger keeps.
   */
  listInstanceLogs(id: string, query?: LogsQuery, options?: CallOptions): Pages<PrintedLine>;
  /** Reads, or follows, the same of all instances of a tenant together. */
  listTenantLogs(tenant: string, query?: LogsQuery, options?: CallOptions): Pages<PrintedLine>;
  /**
   * Lists the terminals of an instance: the open ones, and the last ones that ended, with the reason. They are in
   * memory: a restart of the server ends them.
   */
  listTerminals(id: string, options?: CallOptions): Promise<Terminal[]>;
  /** Opens a terminal. Wakes nothing. */
  openTerminal(id: string, options?: CallOptions): Promise<Terminal>;
  /** Closes a terminal with its scrollback, and stops the line that runs in it. */
  closeTerminal(id: string, terminal: string, options?: CallOptions): Promise<void>;
  /**
   * Shows a terminal: first what stands in it, then what happens, as server-sent events (`line`, `waits`, `woke`,
   * `stdout`, `stderr`, `gap`, `refused`, `exit`, `note`, `clear`, and at last `gone`). `Last-Event-ID` goes on after
   * that entry. As long as a stream is open, and for a minute after the last one, the terminal counts as shown: one
   * that is used holds its instance awake.
   */
  streamTerminal(id: string, terminal: string, options?: CallOptions): Promise<Download>;
  /**
   * Runs a line in a terminal, in the directory that the one before left, as a run. One line runs at a time: `conflict`
   * meanwhile.
   */
  typeInTerminal(id: string, terminal: string, input: TerminalLineInput, options?: CallOptions): Promise<SandboxRun>;
  /** Stops the line that runs in a terminal. */
  interruptTerminal(id: string, terminal: string, options?: CallOptions): Promise<Terminal>;
  /** Removes the scrollback of a terminal, for everybody who shows it. A line that runs goes on and stays. */
  clearTerminal(id: string, terminal: string, options?: CallOptions): Promise<Terminal>;
  /**
   * Says how a line of shell may go on: with commands where one begins, else with paths. Reads the file where it rests,
   * and wakes nothing.
   */
  completeLine(id: string, input: CompletionQuery, options?: CallOptions): Promise<Completion>;
  /**
   * Lists the moments of an instance that the replica can open, those next to a time, the newest first; of a deleted
   * one too. Every read of volumes takes one as `at`.
   */
  listMoments(id: string, query?: MomentsQuery, options?: CallOptions): Promise<Moment[]>;
  /**
   * Names the newest moment of an instance up to `time`, or what it has now, once that is shipped. It is kept, as a
   * copy of its own, until the name is removed or the instance is deleted. The same once more changes nothing.
   */
  nameMoment(id: string, name: string, input?: NameMomentInput, options?: CallOptions): Promise<Moment>;
  /** Removes the name of a moment and the copy that was kept for it. */
  removeMoment(id: string, name: string, options?: CallOptions): Promise<void>;
  /** Lists the three volumes with what they hold and promise. */
  listVolumes(id: string, query?: PastQuery, options?: CallOptions): Promise<VolumeInfo[]>;
  /** Lists the files of a volume by path. Wakes nothing. */
  listFiles(id: string, volume: Volume, query?: FilesQuery, options?: CallOptions): Pages<FileInfo>;
  /** Lists what lies directly in a folder, folders first. Wakes nothing. */
  listFolder(id: string, volume: Volume, query?: FolderQuery, options?: CallOptions): Pages<FolderItem>;
  /**
   * Compares a volume with a snapshot, or with what it was at a moment: what was added, removed and changed since.
   * Wakes nothing.
   */
  compare(id: string, volume: Volume, query: CompareQuery, options?: CallOptions): Promise<Comparison>;
  /** Lists the tables and views of a file that is a SQLite database of up to 64 MiB. Wakes nothing. */
  listTables(id: string, volume: Volume, query: DatabaseQuery, options?: CallOptions): Promise<Database>;
  /** Reads rows of a table or view of a file that is a SQLite database. Wakes nothing. */
  listRows(id: string, volume: Volume, query: DatabaseRowsQuery, options?: CallOptions): Promise<DatabaseRows>;
  /** Makes a folder and its missing parents. Wakes a sleeping sandbox. */
  makeFolder(id: string, volume: Volume, input: MakeFolderInput, options?: CallOptions): Promise<void>;
  /** Deletes an empty folder, or with `recursive` one with all that is in it. Wakes a sleeping sandbox. */
  deleteFolder(id: string, volume: Volume, query: DeleteFolderQuery, options?: CallOptions): Promise<void>;
  /** Gives the bytes of a file, or a range of them. Wakes nothing. */
  getFile(id: string, volume: Volume, path: string, query?: PastQuery, options?: CallOptions): Promise<Download>;
  /** Writes a file. Wakes a sleeping sandbox. Durable when answered. */
  putFile(id: string, volume: Volume, path: string, body: Upload, options?: CallOptions): Promise<Written>;
  /** Deletes a file. Wakes a sleeping sandbox. */
  deleteFile(id: string, volume: Volume, path: string, options?: CallOptions): Promise<void>;
  /** Moves a file or a folder within its volume. Wakes a sleeping sandbox. */
  moveFile(id: string, volume: Volume, input: MoveInput, options?: CallOptions): Promise<void>;
  /**
   * Puts a file or a folder that was there at a moment in the place of what is there now, with all below it and nothing
   * else, in one transaction of up to 64 MiB. Wakes a sleeping sandbox.
   */
  takeBack(id: string, volume: Volume, input: TakeBackInput, options?: CallOptions): Promise<TakenBack>;
  /** Searches names or contents. Wakes nothing. */
  searchFiles(id: string, query: SearchQuery, options?: CallOptions): Pages<SearchHit>;
  /** Runs read-only SQL over the file table. Wakes nothing; nothing else can be reached. */
  queryFiles(id: string, input: SqlInput, query?: PastQuery, options?: CallOptions): Promise<SqlAnswer>;
  /** Keeps a copy of what an instance holds now, without its tmp. The instance goes on running, or sleeping. */
  takeSnapshot(id: string, input?: TakeSnapshotInput, options?: CallOptions): Promise<Snapshot>;
  /** Lists snapshots, newest first, a page at a time. */
  listSnapshots(query?: SnapshotsQuery, options?: CallOptions): Pages<Snapshot>;
  /** Shows a snapshot. */
  getSnapshot(id: string, options?: CallOptions): Promise<Snapshot>;
  /** Deletes a snapshot. Instances that came from it keep what they have. */
  deleteSnapshot(id: string, options?: CallOptions): Promise<void>;
  /** Makes 1 to 1 000 new instances from a snapshot, all or none. `start` resumes them in the background. */
  restoreSnapshot(id: string, input?: RestoreInput, options?: CallOptions): Promise<Instance[]>;
  /** Makes a blueprint from the workspace of an instance, or with `?name=` from a sandbox’s SQLite file in the body. */
  createBlueprint(
    input: CreateBlueprintInput | Upload,
    query?: CreateBlueprintQuery,
    options?: CallOptions,
  ): Promise<Blueprint>;
  /** Lists blueprints by name, a page at a time. */
  listBlueprints(query?: BlueprintsQuery, options?: CallOptions): Pages<Blueprint>;
  /** Shows a blueprint. */
  getBlueprint(name: string, options?: CallOptions): Promise<Blueprint>;
  /** Deletes a blueprint. Clones keep what they have. */
  deleteBlueprint(name: string, options?: CallOptions): Promise<void>;
  /** Makes 1 to 1 000 new instances from a blueprint, all or none. `start` resumes them in the background. */
  cloneBlueprint(name: string, input: CloneInput, options?: CallOptions): Promise<Instance[]>;
  /** Shows what an instance came from and what came from it, with what each takes on disk. */
  getInstanceLineage(id: string, options?: CallOptions): Promise<Lineage>;
  /** Shows what a snapshot came from and what came from it. */
  getSnapshotLineage(id: string, options?: CallOptions): Promise<Lineage>;
  /** Shows what came from a blueprint. */
  getBlueprintLineage(name: string, options?: CallOptions): Promise<Lineage>;
  /**
   * Makes a signed bundle of an instance: its workspace, or with `include_private` all volumes; with `at` as of a
   * moment, which the manifest names. Wakes nothing.
   */
  shipInstance(id: string, input?: ShipInput, options?: CallOptions): Promise<Download>;
  /**
   * Gives the workspace as a directory tree with a `.gitignore` for the private volumes, without the settings and hooks
   * of repositories. Wakes nothing.
   */
  checkoutInstance(id: string, query?: CheckoutQuery, options?: CallOptions): Promise<Download>;
  /** Lists the bundles that were made of an instance, newest first. */
  listInstanceShares(id: string, query?: InstanceSharesQuery, options?: CallOptions): Pages<Share>;
  /** Lists the bundles that were made, newest first, a page at a time. */
  listShares(query?: SharesQuery, options?: CallOptions): Pages<Share>;
  /** Inspects a bundle: its signer, its faults, and the share of this server that it is. Stores nothing of it. */
  inspectBundle(body: Upload, options?: CallOptions): Promise<Inspection>;
  /**
   * Makes a new instance from a bundle, or from a bare VFS file, and says whether it is signed. A share of this server
   * that lost its signature is refused.
   */
  importBundle(body: Upload, query: ImportQuery, options?: CallOptions): Promise<Imported>;
  /** Lists workbooks by tenant and id, a page at a time. */
  listWorkbooks(query?: WorkbooksQuery, options?: CallOptions): Pages<Workbook>;
  /** Answers the plan of the org text that is the body, or all its problems. Stores nothing. */
  planSource(body: Upload, options?: CallOptions): Promise<PlanAnswer>;
  /** Reads the source of a workbook, byte for byte; `version` asks for an older one. */
  getWorkbook(id: string, query?: WorkbookVersionQuery, options?: CallOptions): Promise<Download>;
  /**
   * Stores the org text that is the body as the newest version. The same bytes again are no new version. A source with
   * problems is stored too, and nothing can dock to it.
   */
  putWorkbook(id: string, body: Upload, query?: WorkbookQuery, options?: CallOptions): Promise<Workbook>;
  /** Deletes a workbook with all its versions, when no sandbox is docked to it. */
  deleteWorkbook(id: string, query?: WorkbookQuery, options?: CallOptions): Promise<void>;
  /** Answers the plan of a version: worlds, components and what feeds what; or all problems of its source. */
  getWorkbookPlan(id: string, query?: WorkbookVersionQuery, options?: CallOptions): Promise<PlanAnswer>;
  /** Lists the versions of a workbook, newest first, a page at a time. */
  listWorkbookVersions(id: string, query?: WorkbookVersionsQuery, options?: CallOptions): Pages<WorkbookVersion>;
  /** Shows what changes from one version to another, and which changes break a docked sandbox. */
  checkWorkbookUpgrade(id: string, query: UpgradeQuery, options?: CallOptions): Promise<UpgradeAnswer>;
  /**
   * Calls a component of the workbook that the sandbox is docked to, by its name, or by its path with encoded slashes.
   * Wakes a sleeping sandbox. What the component did wrong is the `error` of a good answer: a call that fails keeps
   * nothing. With `Accept: text/event-stream` the events `woke`, `running`, `log` and `component` are sent as they
   * happen, and `result` last. Closing the connection stops it.
   */
  callComponent(
    id: string,
    component: string,
    input?: ComponentCallInput,
    options?: CallOptions,
  ): Promise<ComponentCallAnswer>;
  /**
   * Runs a workflow of the workbook that the sandbox is docked to: the only one, or that named by `world`. Its
   * components run in the order of their dependencies; an error stops what depends on it. Wakes a sleeping sandbox.
   * With `Accept: text/event-stream` the events `woke`, `running`, `log` and `component` are sent as they happen, and
   * `result` last. Closing the connection stops it.
   */
  callWorkflow(id: string, input?: WorkflowCallInput, options?: CallOptions): Promise<WorkflowCallAnswer>;
  /**
   * Gives the file of an instance that is not awake byte for byte as it lies, all volumes, deleted bytes and damage
   * included; an archived one compressed (zstd). With `part=log` what SQLite left beside it. Opens and wakes nothing.
   */
  rawInstance(id: string, query?: RawQuery, options?: CallOptions): Promise<Download>;
  /**
   * Makes a new instance from every readable file of one that is not awake, and lists what is not readable. The damaged
   * file is left as it is; tmp is left out.
   */
  salvageInstance(id: string, input?: SalvageInput, options?: CallOptions): Promise<SalvageAnswer>;
  /**
   * Replaces the file of an instance that is not awake by a snapshot of the same tenant, by the newest moment up to
   * `time`, or by the named `moment`. The old file is set aside, a fault is cleared, the state stays. With a moment,
   * what it had is kept as a named moment, which `undo` names.
   */
  restoreInstance(id: string, input: RestoreInstanceInput, options?: CallOptions): Promise<Restored>;
  /**
   * Undoes the last restore of an instance to a moment: brings back what it replaced. Once more, the one before. What
   * it has now is kept as a named moment, which `undo` names.
   */
  undoRestore(id: string, input?: UndoRestoreInput, options?: CallOptions): Promise<RestoredMoment>;
  /**
   * Makes a new instance of what one had at the newest moment up to `time`, or at the named `moment`. The one that it
   * is made of stays as it is, or is deleted.
   */
  instanceFromMoment(id: string, input: FromMomentInput, options?: CallOptions): Promise<Instance>;
  /** Shows the hops from where an instance is to a state, and what they cost. Changes nothing. */
  getPlan(id: string, query: PlanQuery, options?: CallOptions): Promise<Plan>;
  /**
   * Runs the plan that brings an instance to a state: hop by hop, each in the ledger. `active` is passed through
   * without a process. A plan that fails leaves the instance in the state of its last hop.
   */
  walkPlan(id: string, input: RunPlanInput, options?: CallOptions): Promise<Instance>;
  /**
   * Applies a verb to many instances: to those named, or to all that match now. With `dry_run` it only says what it
   * would do, which instances it would skip, and why.
   */
  startJob(input: StartJobInput, options?: CallOptions): Promise<DryRun | JobStarted>;
  /** Lists jobs, newest first. */
  listJobs(query?: JobsQuery, options?: CallOptions): Pages<Job>;
  /** Shows a job and how far it is. */
  getJob(id: string, options?: CallOptions): Promise<Job>;
  /** Cancels a job: moves under way finish, and no further ones begin. An ended job does not change. */
  cancelJob(id: string, options?: CallOptions): Promise<Job>;
  /** Lists the result for each instance of a job, in the job’s order. */
  listJobResults(id: string, query?: JobResultsQuery, options?: CallOptions): Pages<JobResult>;
  /**
   * Lists the schedules of an instance, oldest first: those made here and those that its workbook declares. Those of an
   * archived instance rest.
   */
  listSchedules(id: string, query?: SchedulesQuery, options?: CallOptions): Pages<Schedule>;
  /**
   * Schedules a command or a component: by `cron` (five fields, or six with the seconds first), or at `at`, which
   * `repeat` repeats as org does. A firing wakes the instance, behind people’s requests. `missed` says what happens to
   * times at which the server did not run: `skip` (also of a run that a killed server left: at most once), `once` or
   * `all` (at least once; at most the last 50).
   */
  createSchedule(id: string, input?: CreateScheduleInput, options?: CallOptions): Promise<Schedule>;
  /** Shows a schedule, when it is next due and how it last went. */
  getSchedule(id: string, schedule: string, options?: CallOptions): Promise<Schedule>;
  /**
   * Changes or pauses a schedule. Times that pass while it is paused are not made up for. One that the workbook
   * declares can only be paused.
   */
  patchSchedule(id: string, schedule: string, input?: PatchScheduleInput, options?: CallOptions): Promise<Schedule>;
  /** Removes a schedule and its history. A run under way goes on. */
  deleteSchedule(id: string, schedule: string, options?: CallOptions): Promise<void>;
  /** Runs a schedule now, also a paused one, and answers when that has begun: its history says how it ends. */
  runSchedule(id: string, schedule: string, options?: CallOptions): Promise<ScheduleRun>;
  /** Lists the last 100 runs of a schedule, newest first. */
  listScheduleRuns(id: string, schedule: string, query?: SchedulesQuery, options?: CallOptions): Pages<ScheduleRun>;
  /** Lists tenants by name, with what they use and their quotas. */
  listTenants(query?: TenantsQuery, options?: CallOptions): Pages<Tenant>;
  /** Shows a tenant: counts by state, bytes by drawer, thresholds, quotas with their use. */
  getTenant(tenant: string, options?: CallOptions): Promise<Tenant>;
  /** Changes a tenant’s thresholds and quotas. What it has beyond a new quota stays; it gets no more. */
  patchTenant(tenant: string, input?: TenantPatchInput, options?: CallOptions): Promise<Tenant>;
  /**
   * Forgets a tenant for good: sandboxes, snapshots, blueprints, shares, keys, people, search words; the ledger keeps
   * ids only. A job does it, which nothing cancels. With `dry_run` it only says what would go and what would still hold
   * it; else its name must be in `confirm`.
   */
  forgetTenant(
    tenant: string,
    input?: ForgetTenantInput,
    options?: CallOptions,
  ): Promise<TenantForgetPlan | ForgettingStarted>;
  /** Shows how long wakes took in the last days, by where the file came from; kept over restarts. */
  wakeTimes(query?: WakeTimesQuery, options?: CallOptions): Promise<WakeTime[]>;
  /**
   * Counts which instances other thresholds, global or of a tenant, would suspend, freeze or end within a minute, and
   * which they would leave. Changes nothing.
   */
  previewThresholds(input?: PreviewInput, options?: CallOptions): Promise<PreviewAnswer>;
  /**
   * Computes from the ledger what other thresholds would have meant in the last days: process-hours, cold wakes, thaws.
   * Changes nothing.
   */
  simulate(input?: SimulateInput, options?: CallOptions): Promise<Simulation>;
  /**
   * Lists the variables that an instance’s guests have: its own override those of its blueprint, which override those
   * of its tenant.
   */
  instanceEnv(id: string, options?: CallOptions): Promise<Variable[]>;
  /**
   * Sets and removes an instance’s own variables. Values by name; null removes one, and what is not named stays. Holds
   * for the next call.
   */
  patchInstanceEnv(id: string, input: EnvPatchInput, options?: CallOptions): Promise<Variable[]>;
  /** Lists the variables of every sandbox of a tenant. */
  tenantEnv(tenant: string, options?: CallOptions): Promise<Variable[]>;
  /**
   * Sets and removes a tenant’s variables. Values by name; null removes one, and what is not named stays. Holds for the
   * next call.
   */
  patchTenantEnv(tenant: string, input: EnvPatchInput, options?: CallOptions): Promise<Variable[]>;
  /** Lists the variables of every clone of a blueprint. */
  blueprintEnv(name: string, options?: CallOptions): Promise<Variable[]>;
  /**
   * Sets and removes a blueprint’s variables, which all its clones have. Values by name; null removes one, and what is
   * not named stays. Holds for the next call.
   */
  patchBlueprintEnv(name: string, input: EnvPatchInput, options?: CallOptions): Promise<Variable[]>;
  /** Lists the secrets that requests of an instance carry, its own and its tenant’s, without their values. */
  instanceSecrets(id: string, options?: CallOptions): Promise<Secret[]>;
  /** Sets a secret of an instance; it replaces its tenant’s secret of that name. Nobody can read it again. */
  setInstanceSecret(id: string, name: string, input: SecretInput, options?: CallOptions): Promise<Secret>;
  /** Removes a secret of an instance. */
  deleteInstanceSecret(id: string, name: string, options?: CallOptions): Promise<void>;
  /** Lists the secrets that requests of every sandbox of a tenant carry, without their values. */
  tenantSecrets(tenant: string, options?: CallOptions): Promise<Secret[]>;
  /** Sets a secret of a tenant. Nobody can read it again. */
  setTenantSecret(tenant: string, name: string, input: SecretInput, options?: CallOptions): Promise<Secret>;
  /** Removes a secret of a tenant. */
  deleteTenantSecret(tenant: string, name: string, options?: CallOptions): Promise<void>;
  /**
   * Shows what an instance used over time: processor seconds, calls, memory, disk, by the hour or more. Steps in which
   * it did nothing are left out.
   */
  instanceUsage(id: string, query?: UsageQuery, options?: CallOptions): Promise<InstanceUsage>;
  /**
   * Shows the life of an instance from the ledger: the time in each state and its hops, in a bounded number of columns.
   */
  instanceLife(id: string, query?: LifeQuery, options?: CallOptions): Promise<InstanceLife>;
  /**
   * Shows what a tenant’s instances used over time, together: processor seconds, calls, memory, disk, wakes, faults,
   * active time.
   */
  tenantUsage(tenant: string, query?: UsageQuery, options?: CallOptions): Promise<TenantUsage>;
  /** Shows the same of the whole server. */
  serverUsage(query?: UsageQuery, options?: CallOptions): Promise<TenantUsage>;
  /**
   * Shows what an instance takes while it takes it: processor seconds, memory, calls, bytes in and out, disk. Each ten
   * seconds of the last hour, each minute of the last day, each hour before. Steps in which nothing was measured are
   * left out. The samples of the last hour are in memory and lost when the server stops.
   */
  instanceLoad(id: string, query?: LoadQuery, options?: CallOptions): Promise<InstanceLoad>;
  /** Downloads the points of the same as CSV. */
  exportInstanceLoad(id: string, query?: LoadQuery, options?: CallOptions): Promise<Download>;
  /** Shows the same of a tenant’s instances together, and which of them took the most. */
  tenantLoad(tenant: string, query?: TopLoadQuery, options?: CallOptions): Promise<TopLoad>;
  /** Downloads the points of the same as CSV. */
  exportTenantLoad(tenant: string, query?: TopLoadQuery, options?: CallOptions): Promise<Download>;
  /** Shows the same of all instances of this server together, and which tenants took the most. */
  serverLoad(query?: TopLoadQuery, options?: CallOptions): Promise<TopLoad>;
  /** Downloads the points of the same as CSV. */
  exportServerLoad(query?: TopLoadQuery, options?: CallOptions): Promise<Download>;
  /** Lists what happened to an instance, newest first. */
  listInstanceEvents(id: string, query?: InstanceEventsQuery, options?: CallOptions): Pages<Event>;
  /**
   * Lists what happened, newest first. A refusal that repeats is its first line, then one line now and then with how
   * often, since when and when last.
   */
  listEvents(query?: EventsQuery, options?: CallOptions): Pages<Event>;
  /**
   * Streams the ledger as it grows (server-sent events; `id` is the sequence number). `Last-Event-ID`, or the query
   * `last_event_id` where a header cannot be set, resumes after that line. `with=changes` also sends, as events
   * `changes`, the rows and counts that lines are about as they are now, and how far the jobs and the starts of what
   * was made are, at most twice a second; as events `beat`, every 15 s, how far it told; and as an event `gap` that
   * lines were passed over because there were too many or they were dropped: then read everything again. When the key
   * or the session ends, the last event is `error` with the problem `unauthorized`; when its rights change, with
   * `forbidden`: then follow again.
   */
  streamEvents(query?: StreamQuery, options?: CallOptions): Promise<Download>;
  /**
   * Downloads the ledger, newest first, as CSV or JSON lines, narrowed by the filters of the list. The download is
   * itself a line of the ledger; the same one again is counted.
   */
  exportEvents(query: ExportQuery, options?: CallOptions): Promise<Download>;
  /**
   * Gives the signed head of the ledger: number and hash of its last line. Kept elsewhere, it proves later that nothing
   * up to there was changed or removed.
   */
  getLedgerHead(options?: CallOptions): Promise<LedgerHead>;
  /** Verifies that no line of the ledger was changed, removed or reordered, or names the first that was. */
  verifyLedger(options?: CallOptions): Promise<LedgerProof>;
  /** Lists the sealed months of the ledger, oldest first. */
  listLedgerSegments(options?: CallOptions): Promise<LedgerSegment[]>;
  /**
   * Downloads a sealed month as JSON lines, each with its hash, the signed head last: a file that `npm run
   * ledger:verify -- --file` proves by itself. Once it was taken whole, the month may be dropped after
   * `WB_LEDGER_KEEP_DAYS`.
   */
  exportLedgerSegment(id: string, options?: CallOptions): Promise<Download>;
  /** Shows who is calling and what the role allows. */
  me(options?: CallOptions): Promise<Me>;
  /** Changes the caller’s own password and ends all its other sessions. */
  changePassword(input: PasswordChangeInput, options?: CallOptions): Promise<void>;
  /** Lists the people who have an account, the oldest first. */
  people(options?: CallOptions): Promise<Person[]>;
  /** Lists the invitations that are still open, the newest first. */
  invitations(options?: CallOptions): Promise<Invitation[]>;
  /** Makes a link that lets one person in, once and for a week. The link is shown this once. */
  invite(input: InviteInput, options?: CallOptions): Promise<Invited>;
  /** Withdraws an open invitation. */
  withdrawInvitation(id: string, options?: CallOptions): Promise<void>;
  /** Changes a person’s name, role or tenants, or disables the account, which ends its sessions. */
  patchPerson(id: string, input?: PersonPatchInput, options?: CallOptions): Promise<Person>;
  /** Lists the open sessions of a person, the newest first. `me` is the caller. */
  sessionsOf(id: string, options?: CallOptions): Promise<Session[]>;
  /** Ends one session of a person, or all of them. `me` is the caller. */
  endSession(id: string, query?: EndSessionQuery, options?: CallOptions): Promise<void>;
  /** Lists the keys that are not revoked, the newest first. */
  listKeys(options?: CallOptions): Promise<Key[]>;
  /** Makes a key for a program. It is shown this once; only its digest is kept. */
  createKey(input: KeyInput, options?: CallOptions): Promise<CreatedKey>;
  /** Revokes a key, at once and for open streams too. */
  revokeKey(id: string, options?: CallOptions): Promise<void>;
  /** Lists the webhooks, the oldest first. */
  listWebhooks(query?: WebhooksQuery, options?: CallOptions): Promise<Webhook[]>;
  /**
   * Sets up a webhook: from now on it is told of ledger lines, signed as Standard Webhooks says, at least once each and
   * with the same `webhook-id` at every attempt. `tenant` limits it to the lines of one, `types` to some (`instance.*`,
   * `problems` for faults and refusals). https and public addresses only, unless the server’s settings allow an origin
   * by name. The secret is shown this once.
   */
  createWebhook(input: WebhookInput, options?: CallOptions): Promise<WebhookSecret>;
  /** Shows a webhook and the health of its receiver. */
  getWebhook(id: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Changes a webhook, or turns it on or off. One that is turned on goes on where it stopped, or with `resume_from:
   * now` with what happens from now on. After 24 hours without a success the server turns it off.
   */
  patchWebhook(id: string, input?: WebhookPatchInput, options?: CallOptions): Promise<Webhook>;
  /** Removes a webhook with its deliveries. */
  deleteWebhook(id: string, options?: CallOptions): Promise<void>;
  /** Replaces the secret. For 24 hours the previous one signs too. The new one is shown this once. */
  rotateWebhookSecret(id: string, options?: CallOptions): Promise<WebhookSecret>;
  /** Sends `webhook.ping` once and answers how that went, also for a webhook that is off. */
  testWebhook(id: string, options?: CallOptions): Promise<WebhookDelivery>;
  /** Lists what is to be delivered and the last that was or failed, newest first. */
  listWebhookDeliveries(id: string, query?: DeliveriesQuery, options?: CallOptions): Pages<WebhookDelivery>;
  /** Delivers again, with the same `webhook-id`, whatever came of it before. */
  resendDelivery(id: string, delivery: string, options?: CallOptions): Promise<WebhookDelivery>;
  /** Shows what a sandbox may reach on the network, and what it reached in the last seven days, by host. */
  instanceNetwork(id: string, options?: CallOptions): Promise<InstanceNetwork>;
  /**
   * Replaces the list of what a sandbox may reach. It reaches what its list and its tenant’s both allow; `rules: null`
   * is the tenant’s list alone. `*` and numbers above the server’s are for operators and admins.
   */
  putInstanceNetwork(id: string, input: InstanceNetworkInput, options?: CallOptions): Promise<InstanceNetwork>;
  /** Shows what the sandboxes of a tenant may reach on the network. */
  tenantNetwork(tenant: string, options?: CallOptions): Promise<TenantNetwork>;
  /**
   * Replaces the list of what the sandboxes of a tenant may reach: URL prefixes with methods (default: GET and HEAD),
   * or `*` for everything public. `private` lets a name have an address that is not public. The numbers are of all its
   * sandboxes together.
   */
  putTenantNetwork(tenant: string, input: TenantNetworkInput, options?: CallOptions): Promise<TenantNetwork>;
  /**
   * Takes a message of the Model Context Protocol (Streamable HTTP, stateless, revisions 2026-07-28 and 2025) and
   * answers it, as JSON or as `text/event-stream`. Its tools are the operations of this API, for the role and the
   * tenants of the key. Closing the connection, and `notifications/cancelled`, stop what a call runs. A page of another
   * origin is refused.
   */
  sendMcpMessage(input: McpMessageInput, options?: CallOptions): Promise<McpMessage>;
  /**
   * Shows the health of the store: the registry, the ledger, the drawers, the disk, the places for processes. Takes the
   * same time however much there is.
   */
  storage(options?: CallOptions): Promise<Storage>;
  /**
   * Checks the registry’s structure, or measures what lies in the drawers. Answers after ten seconds at the latest;
   * what is still `running` then goes on.
   */
  checkStorage(input: StorageCheckInput, options?: CallOptions): Promise<Storage>;
  /** Lists the backups that the server made, makes or failed to make, newest first. */
  listBackups(query?: BackupsQuery, options?: CallOptions): Pages<Backup>;
  /** Makes a backup now, in the background. Refused while one is under way. */
  makeBackup(input?: MakeBackupInput, options?: CallOptions): Promise<Backup>;
  /** Shows a backup: how far it is, what it would restore, when it was last tried. */
  getBackup(id: string, options?: CallOptions): Promise<Backup>;
  /** Restores one drawn sandbox of it to a folder that is removed again, and compares the hashes. */
  verifyBackup(id: string, options?: CallOptions): Promise<Backup>;
  /**
   * Brings one sandbox back, as itself or as a new one, while the server runs. With `dry_run` only says what it would
   * do, for everything too.
   */
  restoreBackup(id: string, input?: RestoreBackupInput, options?: CallOptions): Promise<BackupRestore>;
  /** Shows when and where backups are made, which are kept, and what is wrong with them. */
  backupSettings(options?: CallOptions): Promise<BackupSettings>;
  /** Changes when and where backups are made, and which are kept. A place is tried before it is taken. */
  putBackupSettings(input?: PutBackupSettingsInput, options?: CallOptions): Promise<BackupSettings>;
  /** Lists what is wrong or comes near a wall, as far as the caller may see it, with what is acknowledged. */
  attention(query?: AttentionQuery, options?: CallOptions): Promise<Attention[]>;
  /** Acknowledges it for everybody, until a time or until it ends. What begins anew is told of again. */
  acknowledge(id: string, input?: AcknowledgeInput, options?: CallOptions): Promise<Attention>;
  /** Takes an acknowledgement back. */
  unacknowledge(id: string, options?: CallOptions): Promise<void>;
  /** Lists the servers of the registry: what each says of itself, and its lease. */
  listHosts(options?: CallOptions): Promise<Host[]>;
  /** Shows one server of the registry. */
  getHost(name: string, options?: CallOptions): Promise<Host>;
  /** Sets the labels of a server, in the place of those that it has. */
  patchHost(name: string, input: PatchHostInput, options?: CallOptions): Promise<Host>;
  /**
   * Empties a server, for an upgrade or a repair: it takes nothing new, and a job of its own suspends, files and stores
   * what it has, so that others wake it. What stays is in the results of that job, each with the reason. It stays so,
   * over its next starts too, until it is taken back; once the job has ended, the same call begins another one for what
   * is left.
   */
  drainHost(name: string, input?: DrainHostInput, options?: CallOptions): Promise<Host>;
  /** Has a server take what is new again. It keeps what it has, and nothing comes back to it by itself. */
  stopDraining(name: string, options?: CallOptions): Promise<Host>;
  /** Shows the global thresholds of the ladder. */
  getSettings(options?: CallOptions): Promise<Settings>;
  /** Changes the global thresholds of the ladder. */
  patchSettings(input?: SettingsPatchInput, options?: CallOptions): Promise<Settings>;
  /** Answers while the process lives. */
  health(options?: CallOptions): Promise<Health>;
  /**
   * Answers `ok` when the registry, the pool and the data folder can do their work, and `503` until then; `degraded`
   * while the object store is away.
   */
  readiness(options?: CallOptions): Promise<Readiness>;
  /** Shows the metrics in the Prometheus text format. */
  metrics(options?: CallOptions): Promise<string>;
  /** Shows this document (OpenAPI 3.1). */
  openapi(options?: CallOptions): Promise<unknown>;
}

/** How each is sent and read. */
export const CALLS = {
  listInstances: { path: '/api/instances', body: null, method: 'GET', query: true, answer: 'page' },
  createInstance: { path: '/api/instances', body: 'json', method: 'POST', query: false, answer: 'json' },
  getInstance: { path: '/api/instances/:id', body: null, method: 'GET', query: false, answer: 'json' },
  patchInstance: { path: '/api/instances/:id', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  deleteInstance: { path: '/api/instances/:id', body: 'json', method: 'DELETE', query: false, answer: 'nothing' },
  resumeInstance: { path: '/api/instances/:id/resume', body: 'json', method: 'POST', query: false, answer: 'json' },
  prefetchInstance: { path: '/api/instances/:id/prefetch', body: null, method: 'POST', query: false, answer: 'json' },
  settleInstance: { path: '/api/instances/:id/settle', body: null, method: 'POST', query: false, answer: 'json' },
  suspendInstance: { path: '/api/instances/:id/suspend', body: 'json', method: 'POST', query: false, answer: 'json' },
  freezeInstance: { path: '/api/instances/:id/freeze', body: 'json', method: 'POST', query: false, answer: 'json' },
  archiveInstance: { path: '/api/instances/:id/archive', body: 'json', method: 'POST', query: false, answer: 'json' },
  reviveInstance: { path: '/api/instances/:id/revive', body: 'json', method: 'POST', query: false, answer: 'json' },
  execInInstance: { path: '/api/instances/:id/exec', body: 'json', method: 'POST', query: false, answer: 'json' },
  evalInInstance: { path: '/api/instances/:id/eval', body: 'json', method: 'POST', query: false, answer: 'json' },
  attachToInstance: {
    path: '/api/instances/:id/attachments/:attachment',
    body: null,
    method: 'PUT',
    query: false,
    answer: 'json',
  },
  detachFromInstance: {
    path: '/api/instances/:id/attachments/:attachment',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  startRun: { path: '/api/instances/:id/runs', body: 'json', method: 'POST', query: false, answer: 'json' },
  listRuns: { path: '/api/instances/:id/runs', body: null, method: 'GET', query: true, answer: 'page' },
  getRun: { path: '/api/instances/:id/runs/:run', body: null, method: 'GET', query: false, answer: 'json' },
  getRunOutput: { path: '/api/instances/:id/runs/:run/output', body: null, method: 'GET', query: true, answer: 'json' },
  stopRun: { path: '/api/instances/:id/runs/:run/stop', body: null, method: 'POST', query: false, answer: 'json' },
  listInstanceLogs: { path: '/api/instances/:id/logs', body: null, method: 'GET', query: true, answer: 'page' },
  listTenantLogs: { path: '/api/tenants/:tenant/logs', body: null, method: 'GET', query: true, answer: 'page' },
  listTerminals: { path: '/api/instances/:id/terminals', body: null, method: 'GET', query: false, answer: 'json' },
  openTerminal: { path: '/api/instances/:id/terminals', body: null, method: 'POST', query: false, answer: 'json' },
  closeTerminal: {
    path: '/api/instances/:id/terminals/:terminal',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  streamTerminal: {
    path: '/api/instances/:id/terminals/:terminal/stream',
    body: null,
    method: 'GET',
    query: false,
    answer: 'events',
  },
  typeInTerminal: {
    path: '/api/instances/:id/terminals/:terminal/lines',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'json',
  },
  interruptTerminal: {
    path: '/api/instances/:id/terminals/:terminal/interrupt',
    body: null,
    method: 'POST',
    query: false,
    answer: 'json',
  },
  clearTerminal: {
    path: '/api/instances/:id/terminals/:terminal/clear',
    body: null,
    method: 'POST',
    query: false,
    answer: 'json',
  },
  completeLine: { path: '/api/instances/:id/complete', body: 'json', method: 'POST', query: false, answer: 'json' },
  listMoments: { path: '/api/instances/:id/moments', body: null, method: 'GET', query: true, answer: 'json' },
  nameMoment: { path: '/api/instances/:id/moments/:name', body: 'json', method: 'PUT', query: false, answer: 'json' },
  removeMoment: {
    path: '/api/instances/:id/moments/:name',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  listVolumes: { path: '/api/instances/:id/volumes', body: null, method: 'GET', query: true, answer: 'json' },
  listFiles: { path: '/api/instances/:id/volumes/:volume', body: null, method: 'GET', query: true, answer: 'page' },
  listFolder: { path: '/api/instances/:id/folders/:volume', body: null, method: 'GET', query: true, answer: 'page' },
  compare: { path: '/api/instances/:id/compare/:volume', body: null, method: 'GET', query: true, answer: 'json' },
  listTables: { path: '/api/instances/:id/tables/:volume', body: null, method: 'GET', query: true, answer: 'json' },
  listRows: { path: '/api/instances/:id/rows/:volume', body: null, method: 'GET', query: true, answer: 'json' },
  makeFolder: {
    path: '/api/instances/:id/folders/:volume',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'nothing',
  },
  deleteFolder: {
    path: '/api/instances/:id/folders/:volume',
    body: null,
    method: 'DELETE',
    query: true,
    answer: 'nothing',
  },
  getFile: { path: '/api/instances/:id/volumes/:volume/*', body: null, method: 'GET', query: true, answer: 'download' },
  putFile: {
    path: '/api/instances/:id/volumes/:volume/*',
    body: 'bytes',
    method: 'PUT',
    query: false,
    answer: 'written',
  },
  deleteFile: {
    path: '/api/instances/:id/volumes/:volume/*',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  moveFile: {
    path: '/api/instances/:id/volumes/:volume/move',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'nothing',
  },
  takeBack: {
    path: '/api/instances/:id/volumes/:volume/take-back',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'json',
  },
  searchFiles: { path: '/api/instances/:id/search', body: null, method: 'GET', query: true, answer: 'page' },
  queryFiles: { path: '/api/instances/:id/query', body: 'json', method: 'POST', query: true, answer: 'json' },
  takeSnapshot: { path: '/api/instances/:id/snapshots', body: 'json', method: 'POST', query: false, answer: 'json' },
  listSnapshots: { path: '/api/snapshots', body: null, method: 'GET', query: true, answer: 'page' },
  getSnapshot: { path: '/api/snapshots/:id', body: null, method: 'GET', query: false, answer: 'json' },
  deleteSnapshot: { path: '/api/snapshots/:id', body: null, method: 'DELETE', query: false, answer: 'nothing' },
  restoreSnapshot: { path: '/api/snapshots/:id/restore', body: 'json', method: 'POST', query: false, answer: 'json' },
  createBlueprint: { path: '/api/blueprints', body: 'either', method: 'POST', query: true, answer: 'json' },
  listBlueprints: { path: '/api/blueprints', body: null, method: 'GET', query: true, answer: 'page' },
  getBlueprint: { path: '/api/blueprints/:name', body: null, method: 'GET', query: false, answer: 'json' },
  deleteBlueprint: { path: '/api/blueprints/:name', body: null, method: 'DELETE', query: false, answer: 'nothing' },
  cloneBlueprint: { path: '/api/blueprints/:name/clone', body: 'json', method: 'POST', query: false, answer: 'json' },
  getInstanceLineage: { path: '/api/instances/:id/lineage', body: null, method: 'GET', query: false, answer: 'json' },
  getSnapshotLineage: { path: '/api/snapshots/:id/lineage', body: null, method: 'GET', query: false, answer: 'json' },
  getBlueprintLineage: {
    path: '/api/blueprints/:name/lineage',
    body: null,
    method: 'GET',
    query: false,
    answer: 'json',
  },
  shipInstance: { path: '/api/instances/:id/ship', body: 'json', method: 'POST', query: false, answer: 'download' },
  checkoutInstance: { path: '/api/instances/:id/checkout', body: null, method: 'GET', query: true, answer: 'download' },
  listInstanceShares: { path: '/api/instances/:id/shares', body: null, method: 'GET', query: true, answer: 'page' },
  listShares: { path: '/api/shares', body: null, method: 'GET', query: true, answer: 'page' },
  inspectBundle: { path: '/api/bundles/inspect', body: 'bytes', method: 'POST', query: false, answer: 'json' },
  importBundle: { path: '/api/instances/import', body: 'bytes', method: 'POST', query: true, answer: 'json' },
  listWorkbooks: { path: '/api/workbooks', body: null, method: 'GET', query: true, answer: 'page' },
  planSource: { path: '/api/workbooks/plan', body: 'bytes', method: 'POST', query: false, answer: 'json' },
  getWorkbook: { path: '/api/workbooks/:id', body: null, method: 'GET', query: true, answer: 'download' },
  putWorkbook: { path: '/api/workbooks/:id', body: 'bytes', method: 'PUT', query: true, answer: 'json' },
  deleteWorkbook: { path: '/api/workbooks/:id', body: null, method: 'DELETE', query: true, answer: 'nothing' },
  getWorkbookPlan: { path: '/api/workbooks/:id/plan', body: null, method: 'GET', query: true, answer: 'json' },
  listWorkbookVersions: { path: '/api/workbooks/:id/versions', body: null, method: 'GET', query: true, answer: 'page' },
  checkWorkbookUpgrade: { path: '/api/workbooks/:id/upgrade', body: null, method: 'GET', query: true, answer: 'json' },
  callComponent: {
    path: '/api/instances/:id/call/:component',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'json',
  },
  callWorkflow: { path: '/api/instances/:id/call', body: 'json', method: 'POST', query: false, answer: 'json' },
  rawInstance: { path: '/api/instances/:id/raw', body: null, method: 'GET', query: true, answer: 'download' },
  salvageInstance: { path: '/api/instances/:id/salvage', body: 'json', method: 'POST', query: false, answer: 'json' },
  restoreInstance: { path: '/api/instances/:id/restore', body: 'json', method: 'POST', query: false, answer: 'json' },
  undoRestore: { path: '/api/instances/:id/undo', body: 'json', method: 'POST', query: false, answer: 'json' },
  instanceFromMoment: {
    path: '/api/instances/:id/from-moment',
    body: 'json',
    method: 'POST',
    query: false,
    answer: 'json',
  },
  getPlan: { path: '/api/instances/:id/plan', body: null, method: 'GET', query: true, answer: 'json' },
  walkPlan: { path: '/api/instances/:id/plan', body: 'json', method: 'POST', query: false, answer: 'json' },
  startJob: { path: '/api/jobs', body: 'json', method: 'POST', query: false, answer: 'json' },
  listJobs: { path: '/api/jobs', body: null, method: 'GET', query: true, answer: 'page' },
  getJob: { path: '/api/jobs/:id', body: null, method: 'GET', query: false, answer: 'json' },
  cancelJob: { path: '/api/jobs/:id', body: null, method: 'DELETE', query: false, answer: 'json' },
  listJobResults: { path: '/api/jobs/:id/results', body: null, method: 'GET', query: true, answer: 'page' },
  listSchedules: { path: '/api/instances/:id/schedules', body: null, method: 'GET', query: true, answer: 'page' },
  createSchedule: { path: '/api/instances/:id/schedules', body: 'json', method: 'POST', query: false, answer: 'json' },
  getSchedule: {
    path: '/api/instances/:id/schedules/:schedule',
    body: null,
    method: 'GET',
    query: false,
    answer: 'json',
  },
  patchSchedule: {
    path: '/api/instances/:id/schedules/:schedule',
    body: 'json',
    method: 'PATCH',
    query: false,
    answer: 'json',
  },
  deleteSchedule: {
    path: '/api/instances/:id/schedules/:schedule',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  runSchedule: {
    path: '/api/instances/:id/schedules/:schedule/run',
    body: null,
    method: 'POST',
    query: false,
    answer: 'json',
  },
  listScheduleRuns: {
    path: '/api/instances/:id/schedules/:schedule/runs',
    body: null,
    method: 'GET',
    query: true,
    answer: 'page',
  },
  listTenants: { path: '/api/tenants', body: null, method: 'GET', query: true, answer: 'page' },
  getTenant: { path: '/api/tenants/:tenant', body: null, method: 'GET', query: false, answer: 'json' },
  patchTenant: { path: '/api/tenants/:tenant', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  forgetTenant: { path: '/api/tenants/:tenant', body: 'json', method: 'DELETE', query: false, answer: 'json' },
  wakeTimes: { path: '/api/metrics/wakes', body: null, method: 'GET', query: true, answer: 'json' },
  previewThresholds: { path: '/api/settings/preview', body: 'json', method: 'POST', query: false, answer: 'json' },
  simulate: { path: '/api/settings/simulate', body: 'json', method: 'POST', query: false, answer: 'json' },
  instanceEnv: { path: '/api/instances/:id/env', body: null, method: 'GET', query: false, answer: 'json' },
  patchInstanceEnv: { path: '/api/instances/:id/env', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  tenantEnv: { path: '/api/tenants/:tenant/env', body: null, method: 'GET', query: false, answer: 'json' },
  patchTenantEnv: { path: '/api/tenants/:tenant/env', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  blueprintEnv: { path: '/api/blueprints/:name/env', body: null, method: 'GET', query: false, answer: 'json' },
  patchBlueprintEnv: { path: '/api/blueprints/:name/env', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  instanceSecrets: { path: '/api/instances/:id/secrets', body: null, method: 'GET', query: false, answer: 'json' },
  setInstanceSecret: {
    path: '/api/instances/:id/secrets/:name',
    body: 'json',
    method: 'PUT',
    query: false,
    answer: 'json',
  },
  deleteInstanceSecret: {
    path: '/api/instances/:id/secrets/:name',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  tenantSecrets: { path: '/api/tenants/:tenant/secrets', body: null, method: 'GET', query: false, answer: 'json' },
  setTenantSecret: {
    path: '/api/tenants/:tenant/secrets/:name',
    body: 'json',
    method: 'PUT',
    query: false,
    answer: 'json',
  },
  deleteTenantSecret: {
    path: '/api/tenants/:tenant/secrets/:name',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  instanceUsage: { path: '/api/instances/:id/usage', body: null, method: 'GET', query: true, answer: 'json' },
  instanceLife: { path: '/api/instances/:id/life', body: null, method: 'GET', query: true, answer: 'json' },
  tenantUsage: { path: '/api/tenants/:tenant/usage', body: null, method: 'GET', query: true, answer: 'json' },
  serverUsage: { path: '/api/usage', body: null, method: 'GET', query: true, answer: 'json' },
  instanceLoad: { path: '/api/instances/:id/load', body: null, method: 'GET', query: true, answer: 'json' },
  exportInstanceLoad: {
    path: '/api/instances/:id/load/export',
    body: null,
    method: 'GET',
    query: true,
    answer: 'download',
  },
  tenantLoad: { path: '/api/tenants/:tenant/load', body: null, method: 'GET', query: true, answer: 'json' },
  exportTenantLoad: {
    path: '/api/tenants/:tenant/load/export',
    body: null,
    method: 'GET',
    query: true,
    answer: 'download',
  },
  serverLoad: { path: '/api/load', body: null, method: 'GET', query: true, answer: 'json' },
  exportServerLoad: { path: '/api/load/export', body: null, method: 'GET', query: true, answer: 'download' },
  listInstanceEvents: { path: '/api/instances/:id/events', body: null, method: 'GET', query: true, answer: 'page' },
  listEvents: { path: '/api/events', body: null, method: 'GET', query: true, answer: 'page' },
  streamEvents: { path: '/api/events/stream', body: null, method: 'GET', query: true, answer: 'events' },
  exportEvents: { path: '/api/events/export', body: null, method: 'GET', query: true, answer: 'download' },
  getLedgerHead: { path: '/api/events/head', body: null, method: 'GET', query: false, answer: 'json' },
  verifyLedger: { path: '/api/events/verify', body: null, method: 'GET', query: false, answer: 'json' },
  listLedgerSegments: { path: '/api/events/segments', body: null, method: 'GET', query: false, answer: 'json' },
  exportLedgerSegment: {
    path: '/api/events/segments/:id',
    body: null,
    method: 'GET',
    query: false,
    answer: 'download',
  },
  me: { path: '/api/me', body: null, method: 'GET', query: false, answer: 'json' },
  changePassword: { path: '/api/me/password', body: 'json', method: 'PUT', query: false, answer: 'nothing' },
  people: { path: '/api/people', body: null, method: 'GET', query: false, answer: 'json' },
  invitations: { path: '/api/people/invitations', body: null, method: 'GET', query: false, answer: 'json' },
  invite: { path: '/api/people/invitations', body: 'json', method: 'POST', query: false, answer: 'json' },
  withdrawInvitation: {
    path: '/api/people/invitations/:id',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  patchPerson: { path: '/api/people/:id', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  sessionsOf: { path: '/api/people/:id/sessions', body: null, method: 'GET', query: false, answer: 'json' },
  endSession: { path: '/api/people/:id/sessions', body: null, method: 'DELETE', query: true, answer: 'nothing' },
  listKeys: { path: '/api/keys', body: null, method: 'GET', query: false, answer: 'json' },
  createKey: { path: '/api/keys', body: 'json', method: 'POST', query: false, answer: 'json' },
  revokeKey: { path: '/api/keys/:id', body: null, method: 'DELETE', query: false, answer: 'nothing' },
  listWebhooks: { path: '/api/webhooks', body: null, method: 'GET', query: true, answer: 'json' },
  createWebhook: { path: '/api/webhooks', body: 'json', method: 'POST', query: false, answer: 'json' },
  getWebhook: { path: '/api/webhooks/:id', body: null, method: 'GET', query: false, answer: 'json' },
  patchWebhook: { path: '/api/webhooks/:id', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  deleteWebhook: { path: '/api/webhooks/:id', body: null, method: 'DELETE', query: false, answer: 'nothing' },
  rotateWebhookSecret: { path: '/api/webhooks/:id/rotate', body: null, method: 'POST', query: false, answer: 'json' },
  testWebhook: { path: '/api/webhooks/:id/test', body: null, method: 'POST', query: false, answer: 'json' },
  listWebhookDeliveries: {
    path: '/api/webhooks/:id/deliveries',
    body: null,
    method: 'GET',
    query: true,
    answer: 'page',
  },
  resendDelivery: {
    path: '/api/webhooks/:id/deliveries/:delivery/resend',
    body: null,
    method: 'POST',
    query: false,
    answer: 'json',
  },
  instanceNetwork: { path: '/api/instances/:id/network', body: null, method: 'GET', query: false, answer: 'json' },
  putInstanceNetwork: { path: '/api/instances/:id/network', body: 'json', method: 'PUT', query: false, answer: 'json' },
  tenantNetwork: { path: '/api/tenants/:tenant/network', body: null, method: 'GET', query: false, answer: 'json' },
  putTenantNetwork: { path: '/api/tenants/:tenant/network', body: 'json', method: 'PUT', query: false, answer: 'json' },
  sendMcpMessage: { path: '/api/mcp', body: 'json', method: 'POST', query: false, answer: 'json' },
  storage: { path: '/api/settings/storage', body: null, method: 'GET', query: false, answer: 'json' },
  checkStorage: { path: '/api/settings/storage/check', body: 'json', method: 'POST', query: false, answer: 'json' },
  listBackups: { path: '/api/backups', body: null, method: 'GET', query: true, answer: 'page' },
  makeBackup: { path: '/api/backups', body: 'json', method: 'POST', query: false, answer: 'json' },
  getBackup: { path: '/api/backups/:id', body: null, method: 'GET', query: false, answer: 'json' },
  verifyBackup: { path: '/api/backups/:id/verify', body: null, method: 'POST', query: false, answer: 'json' },
  restoreBackup: { path: '/api/backups/:id/restore', body: 'json', method: 'POST', query: false, answer: 'json' },
  backupSettings: { path: '/api/settings/backups', body: null, method: 'GET', query: false, answer: 'json' },
  putBackupSettings: { path: '/api/settings/backups', body: 'json', method: 'PUT', query: false, answer: 'json' },
  attention: { path: '/api/attention', body: null, method: 'GET', query: true, answer: 'json' },
  acknowledge: { path: '/api/attention/:id/acknowledge', body: 'json', method: 'POST', query: false, answer: 'json' },
  unacknowledge: {
    path: '/api/attention/:id/acknowledge',
    body: null,
    method: 'DELETE',
    query: false,
    answer: 'nothing',
  },
  listHosts: { path: '/api/hosts', body: null, method: 'GET', query: false, answer: 'json' },
  getHost: { path: '/api/hosts/:name', body: null, method: 'GET', query: false, answer: 'json' },
  patchHost: { path: '/api/hosts/:name', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  drainHost: { path: '/api/hosts/:name/drain', body: 'json', method: 'POST', query: false, answer: 'json' },
  stopDraining: { path: '/api/hosts/:name/drain', body: null, method: 'DELETE', query: false, answer: 'json' },
  getSettings: { path: '/api/settings', body: null, method: 'GET', query: false, answer: 'json' },
  patchSettings: { path: '/api/settings', body: 'json', method: 'PATCH', query: false, answer: 'json' },
  health: { path: '/healthz', body: null, method: 'GET', query: false, answer: 'json' },
  readiness: { path: '/readyz', body: null, method: 'GET', query: false, answer: 'json' },
  metrics: { path: '/metrics', body: null, method: 'GET', query: false, answer: 'text' },
  openapi: { path: '/openapi.json', body: null, method: 'GET', query: false, answer: 'json' },
} as const satisfies Record<keyof Calls, CallLine>;
