/**
 * Holds each plain type against its schema; the compiler does the work. Printed by `npm run client:calls`. Not to be
 * written by hand.
 */
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type {
  acknowledgeSchema,
  attachmentSchema,
  attentionQuerySchema,
  attentionSchema,
  backupRestoreSchema,
  backupSchema,
  backupSettingsSchema,
  backupsQuerySchema,
  blueprintSchema,
  blueprintsQuerySchema,
  bundleOriginSchema,
  checkoutQuerySchema,
  cloneSchema,
  compareQuerySchema,
  comparisonSchema,
  completionQuerySchema,
  completionSchema,
  componentCallAnswerSchema,
  componentCallSchema,
  componentPortSchema,
  createBlueprintQuerySchema,
  createBlueprintSchema,
  createdKeySchema,
  createScheduleSchema,
  createSchema,
  databaseQuerySchema,
  databaseRowsQuerySchema,
  databaseRowsSchema,
  databaseSchema,
  databaseTableSchema,
  deleteFolderQuerySchema,
  deleteSchema,
  deliveriesQuerySchema,
  drainHostSchema,
  dryRunSchema,
  endSessionQuerySchema,
  envPatchSchema,
  evalAnswerSchema,
  evalSchema,
  eventSchema,
  eventsQuerySchema,
  execAnswerSchema,
  execSchema,
  exportQuerySchema,
  fileChangeSchema,
  fileInfoSchema,
  filesQuerySchema,
  folderItemSchema,
  folderQuerySchema,
  forgetTenantSchema,
  forgettingStartedSchema,
  fromMomentSchema,
  healthSchema,
  hostSchema,
  importedSchema,
  importQuerySchema,
  inspectionSchema,
  instanceEventsQuerySchema,
  instanceLifeSchema,
  instanceLoadSchema,
  instanceNetworkInputSchema,
  instanceNetworkSchema,
  instanceSchema,
  instanceSharesQuerySchema,
  instanceUsageSchema,
  invitationSchema,
  invitedSchema,
  inviteSchema,
  jobFilterSchema,
  jobResultSchema,
  jobResultsQuerySchema,
  jobSchema,
  jobStartedSchema,
  jobsQuerySchema,
  keyInputSchema,
  keySchema,
  ledgerHeadSchema,
  ledgerProofSchema,
  ledgerSegmentSchema,
  lifeQuerySchema,
  lineageSchema,
  listQuerySchema,
  loadQuerySchema,
  logsQuerySchema,
  makeBackupSchema,
  makeFolderSchema,
  mcpMessageSchema,
  meSchema,
  momentSchema,
  momentsQuerySchema,
  moveSchema,
  nameMomentSchema,
  passwordChangeSchema,
  pastQuerySchema,
  patchHostSchema,
  patchScheduleSchema,
  patchSchema,
  personPatchSchema,
  personSchema,
  planAnswerSchema,
  planComponentSchema,
  planProblemSchema,
  planQuerySchema,
  planScheduleSchema,
  planSchema,
  planWorldSchema,
  prefetchAnswerSchema,
  previewAnswerSchema,
  previewSchema,
  printedLineSchema,
  problemSchema,
  putBackupSettingsSchema,
  rawQuerySchema,
  readinessSchema,
  restoreBackupSchema,
  restoredMomentSchema,
  restoredSchema,
  restoreInstanceSchema,
  restoreSchema,
  resumeAnswerSchema,
  resumeSchema,
  runOutputQuerySchema,
  runOutputSchema,
  runPieceSchema,
  runPlanSchema,
  runsQuerySchema,
  salvageAnswerSchema,
  salvageSchema,
  sandboxRunSchema,
  scheduleRunSchema,
  scheduleSchema,
  schedulesQuerySchema,
  searchHitSchema,
  searchQuerySchema,
  secretInputSchema,
  secretSchema,
  segmentHeadSchema,
  sessionSchema,
  settingsPatchSchema,
  settingsSchema,
  shareSchema,
  sharesQuerySchema,
  shipSchema,
  simulateSchema,
  simulationSchema,
  snapshotSchema,
  snapshotsQuerySchema,
  sqlAnswerSchema,
  sqlSchema,
  startJobSchema,
  startRunSchema,
  storageCheckSchema,
  storageSchema,
  streamQuerySchema,
  takeBackSchema,
  takenBackSchema,
  takeSnapshotSchema,
  tenantForgetPlanSchema,
  tenantNetworkInputSchema,
  tenantNetworkSchema,
  tenantPatchSchema,
  tenantSchema,
  tenantsQuerySchema,
  tenantUsageSchema,
  terminalLineSchema,
  terminalSchema,
  topLoadQuerySchema,
  topLoadSchema,
  undoRestoreSchema,
  upgradeAnswerSchema,
  upgradeChangeSchema,
  upgradeQuerySchema,
  usageQuerySchema,
  variableSchema,
  verbBodySchema,
  volumeInfoSchema,
  wakeTimeSchema,
  wakeTimesQuerySchema,
  webhookDeliverySchema,
  webhookInputSchema,
  webhookPatchSchema,
  webhookSchema,
  webhookSecretSchema,
  webhooksQuerySchema,
  workbookPlanSchema,
  workbookQuerySchema,
  workbookSchema,
  workbooksQuerySchema,
  workbookVersionQuerySchema,
  workbookVersionSchema,
  workbookVersionsQuerySchema,
  workflowCallAnswerSchema,
  workflowCallSchema,
} from '../contract/schema.ts';
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
  BundleOrigin,
  CheckoutQuery,
  CloneInput,
  CompareQuery,
  Comparison,
  Completion,
  CompletionQuery,
  ComponentCallAnswer,
  ComponentCallInput,
  ComponentPort,
  CreateBlueprintInput,
  CreateBlueprintQuery,
  CreatedKey,
  CreateInput,
  CreateScheduleInput,
  Database,
  DatabaseQuery,
  DatabaseRows,
  DatabaseRowsQuery,
  DatabaseTable,
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
  FileChange,
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
  JobFilter,
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
  PlanComponent,
  PlanProblem,
  PlanQuery,
  PlanSchedule,
  PlanWorld,
  PrefetchAnswer,
  PreviewAnswer,
  PreviewInput,
  PrintedLine,
  Problem,
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
  RunPiece,
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
  SegmentHead,
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
  UpgradeChange,
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
  WorkbookPlan,
  WorkbookQuery,
  WorkbooksQuery,
  WorkbookVersion,
  WorkbookVersionQuery,
  WorkbookVersionsQuery,
  WorkflowCallAnswer,
  WorkflowCallInput,
} from './types.ts';

test('the plain types of the client are those of the contract’s schemas', () => {
  expectTypeOf<AcknowledgeInput>().toEqualTypeOf<z.input<typeof acknowledgeSchema>>();
  expectTypeOf<Attachment>().toEqualTypeOf<z.output<typeof attachmentSchema>>();
  expectTypeOf<Attention>().toEqualTypeOf<z.output<typeof attentionSchema>>();
  expectTypeOf<AttentionQuery>().toEqualTypeOf<z.input<typeof attentionQuerySchema>>();
  expectTypeOf<Backup>().toEqualTypeOf<z.output<typeof backupSchema>>();
  expectTypeOf<BackupRestore>().toEqualTypeOf<z.output<typeof backupRestoreSchema>>();
  expectTypeOf<BackupSettings>().toEqualTypeOf<z.output<typeof backupSettingsSchema>>();
  expectTypeOf<BackupsQuery>().toEqualTypeOf<z.input<typeof backupsQuerySchema>>();
  expectTypeOf<Blueprint>().toEqualTypeOf<z.output<typeof blueprintSchema>>();
  expectTypeOf<BlueprintsQuery>().toEqualTypeOf<z.input<typeof blueprintsQuerySchema>>();
  expectTypeOf<BundleOrigin>().toEqualTypeOf<z.output<typeof bundleOriginSchema>>();
  expectTypeOf<CheckoutQuery>().toEqualTypeOf<z.input<typeof checkoutQuerySchema>>();
  expectTypeOf<CloneInput>().toEqualTypeOf<z.input<typeof cloneSchema>>();
  expectTypeOf<CompareQuery>().toEqualTypeOf<z.input<typeof compareQuerySchema>>();
  expectTypeOf<Comparison>().toEqualTypeOf<z.output<typeof comparisonSchema>>();
  expectTypeOf<Completion>().toEqualTypeOf<z.output<typeof completionSchema>>();
  expectTypeOf<CompletionQuery>().toEqualTypeOf<z.input<typeof completionQuerySchema>>();
  expectTypeOf<ComponentCallAnswer>().toEqualTypeOf<z.output<typeof componentCallAnswerSchema>>();
  expectTypeOf<ComponentCallInput>().toEqualTypeOf<z.input<typeof componentCallSchema>>();
  expectTypeOf<ComponentPort>().toEqualTypeOf<z.output<typeof componentPortSchema>>();
  expectTypeOf<CreateBlueprintInput>().toEqualTypeOf<z.input<typeof createBlueprintSchema>>();
  expectTypeOf<CreateBlueprintQuery>().toEqualTypeOf<z.input<typeof createBlueprintQuerySchema>>();
  expectTypeOf<CreateInput>().toEqualTypeOf<z.input<typeof createSchema>>();
  expectTypeOf<CreateScheduleInput>().toEqualTypeOf<z.input<typeof createScheduleSchema>>();
  expectTypeOf<CreatedKey>().toEqualTypeOf<z.output<typeof createdKeySchema>>();
  expectTypeOf<Database>().toEqualTypeOf<z.output<typeof databaseSchema>>();
  expectTypeOf<DatabaseQuery>().toEqualTypeOf<z.input<typeof databaseQuerySchema>>();
  expectTypeOf<DatabaseRows>().toEqualTypeOf<z.output<typeof databaseRowsSchema>>();
  expectTypeOf<DatabaseRowsQuery>().toEqualTypeOf<z.input<typeof databaseRowsQuerySchema>>();
  expectTypeOf<DatabaseTable>().toEqualTypeOf<z.output<typeof databaseTableSchema>>();
  expectTypeOf<DeleteFolderQuery>().toEqualTypeOf<z.input<typeof deleteFolderQuerySchema>>();
  expectTypeOf<DeleteInput>().toEqualTypeOf<z.input<typeof deleteSchema>>();
  expectTypeOf<DeliveriesQuery>().toEqualTypeOf<z.input<typeof deliveriesQuerySchema>>();
  expectTypeOf<DrainHostInput>().toEqualTypeOf<z.input<typeof drainHostSchema>>();
  expectTypeOf<DryRun>().toEqualTypeOf<z.output<typeof dryRunSchema>>();
  expectTypeOf<EndSessionQuery>().toEqualTypeOf<z.input<typeof endSessionQuerySchema>>();
  expectTypeOf<EnvPatchInput>().toEqualTypeOf<z.input<typeof envPatchSchema>>();
  expectTypeOf<EvalAnswer>().toEqualTypeOf<z.output<typeof evalAnswerSchema>>();
  expectTypeOf<EvalInput>().toEqualTypeOf<z.input<typeof evalSchema>>();
  expectTypeOf<Event>().toEqualTypeOf<z.output<typeof eventSchema>>();
  expectTypeOf<EventsQuery>().toEqualTypeOf<z.input<typeof eventsQuerySchema>>();
  expectTypeOf<ExecAnswer>().toEqualTypeOf<z.output<typeof execAnswerSchema>>();
  expectTypeOf<ExecInput>().toEqualTypeOf<z.input<typeof execSchema>>();
  expectTypeOf<ExportQuery>().toEqualTypeOf<z.input<typeof exportQuerySchema>>();
  expectTypeOf<FileChange>().toEqualTypeOf<z.output<typeof fileChangeSchema>>();
  expectTypeOf<FileInfo>().toEqualTypeOf<z.output<typeof fileInfoSchema>>();
  expectTypeOf<FilesQuery>().toEqualTypeOf<z.input<typeof filesQuerySchema>>();
  expectTypeOf<FolderItem>().toEqualTypeOf<z.output<typeof folderItemSchema>>();
  expectTypeOf<FolderQuery>().toEqualTypeOf<z.input<typeof folderQuerySchema>>();
  expectTypeOf<ForgetTenantInput>().toEqualTypeOf<z.input<typeof forgetTenantSchema>>();
  expectTypeOf<ForgettingStarted>().toEqualTypeOf<z.output<typeof forgettingStartedSchema>>();
  expectTypeOf<FromMomentInput>().toEqualTypeOf<z.input<typeof fromMomentSchema>>();
  expectTypeOf<Health>().toEqualTypeOf<z.output<typeof healthSchema>>();
  expectTypeOf<Host>().toEqualTypeOf<z.output<typeof hostSchema>>();
  expectTypeOf<ImportQuery>().toEqualTypeOf<z.input<typeof importQuerySchema>>();
  expectTypeOf<Imported>().toEqualTypeOf<z.output<typeof importedSchema>>();
  expectTypeOf<Inspection>().toEqualTypeOf<z.output<typeof inspectionSchema>>();
  expectTypeOf<Instance>().toEqualTypeOf<z.output<typeof instanceSchema>>();
  expectTypeOf<InstanceEventsQuery>().toEqualTypeOf<z.input<typeof instanceEventsQuerySchema>>();
  expectTypeOf<InstanceLife>().toEqualTypeOf<z.output<typeof instanceLifeSchema>>();
  expectTypeOf<InstanceLoad>().toEqualTypeOf<z.output<typeof instanceLoadSchema>>();
  expectTypeOf<InstanceNetwork>().toEqualTypeOf<z.output<typeof instanceNetworkSchema>>();
  expectTypeOf<InstanceNetworkInput>().toEqualTypeOf<z.input<typeof instanceNetworkInputSchema>>();
  expectTypeOf<InstanceSharesQuery>().toEqualTypeOf<z.input<typeof instanceSharesQuerySchema>>();
  expectTypeOf<InstanceUsage>().toEqualTypeOf<z.output<typeof instanceUsageSchema>>();
  expectTypeOf<Invitation>().toEqualTypeOf<z.output<typeof invitationSchema>>();
  expectTypeOf<InviteInput>().toEqualTypeOf<z.input<typeof inviteSchema>>();
  expectTypeOf<Invited>().toEqualTypeOf<z.output<typeof invitedSchema>>();
  expectTypeOf<Job>().toEqualTypeOf<z.output<typeof jobSchema>>();
  expectTypeOf<JobFilter>().toEqualTypeOf<z.output<typeof jobFilterSchema>>();
  expectTypeOf<JobResult>().toEqualTypeOf<z.output<typeof jobResultSchema>>();
  expectTypeOf<JobResultsQuery>().toEqualTypeOf<z.input<typeof jobResultsQuerySchema>>();
  expectTypeOf<JobStarted>().toEqualTypeOf<z.output<typeof jobStartedSchema>>();
  expectTypeOf<JobsQuery>().toEqualTypeOf<z.input<typeof jobsQuerySchema>>();
  expectTypeOf<Key>().toEqualTypeOf<z.output<typeof keySchema>>();
  expectTypeOf<KeyInput>().toEqualTypeOf<z.input<typeof keyInputSchema>>();
  expectTypeOf<LedgerHead>().toEqualTypeOf<z.output<typeof ledgerHeadSchema>>();
  expectTypeOf<LedgerProof>().toEqualTypeOf<z.output<typeof ledgerProofSchema>>();
  expectTypeOf<LedgerSegment>().toEqualTypeOf<z.output<typeof ledgerSegmentSchema>>();
  expectTypeOf<LifeQuery>().toEqualTypeOf<z.input<typeof lifeQuerySchema>>();
  expectTypeOf<Lineage>().toEqualTypeOf<z.output<typeof lineageSchema>>();
  expectTypeOf<ListQuery>().toEqualTypeOf<z.input<typeof listQuerySchema>>();
  expectTypeOf<LoadQuery>().toEqualTypeOf<z.input<typeof loadQuerySchema>>();
  expectTypeOf<LogsQuery>().toEqualTypeOf<z.input<typeof logsQuerySchema>>();
  expectTypeOf<MakeBackupInput>().toEqualTypeOf<z.input<typeof makeBackupSchema>>();
  expectTypeOf<MakeFolderInput>().toEqualTypeOf<z.input<typeof makeFolderSchema>>();
  expectTypeOf<McpMessage>().toEqualTypeOf<z.output<typeof mcpMessageSchema>>();
  expectTypeOf<McpMessageInput>().toEqualTypeOf<z.input<typeof mcpMessageSchema>>();
  expectTypeOf<Me>().toEqualTypeOf<z.output<typeof meSchema>>();
  expectTypeOf<Moment>().toEqualTypeOf<z.output<typeof momentSchema>>();
  expectTypeOf<MomentsQuery>().toEqualTypeOf<z.input<typeof momentsQuerySchema>>();
  expectTypeOf<MoveInput>().toEqualTypeOf<z.input<typeof moveSchema>>();
  expectTypeOf<NameMomentInput>().toEqualTypeOf<z.input<typeof nameMomentSchema>>();
  expectTypeOf<PasswordChangeInput>().toEqualTypeOf<z.input<typeof passwordChangeSchema>>();
  expectTypeOf<PastQuery>().toEqualTypeOf<z.input<typeof pastQuerySchema>>();
  expectTypeOf<PatchHostInput>().toEqualTypeOf<z.input<typeof patchHostSchema>>();
  expectTypeOf<PatchInput>().toEqualTypeOf<z.input<typeof patchSchema>>();
  expectTypeOf<PatchScheduleInput>().toEqualTypeOf<z.input<typeof patchScheduleSchema>>();
  expectTypeOf<Person>().toEqualTypeOf<z.output<typeof personSchema>>();
  expectTypeOf<PersonPatchInput>().toEqualTypeOf<z.input<typeof personPatchSchema>>();
  expectTypeOf<Plan>().toEqualTypeOf<z.output<typeof planSchema>>();
  expectTypeOf<PlanAnswer>().toEqualTypeOf<z.output<typeof planAnswerSchema>>();
  expectTypeOf<PlanComponent>().toEqualTypeOf<z.output<typeof planComponentSchema>>();
  expectTypeOf<PlanProblem>().toEqualTypeOf<z.output<typeof planProblemSchema>>();
  expectTypeOf<PlanQuery>().toEqualTypeOf<z.input<typeof planQuerySchema>>();
  expectTypeOf<PlanSchedule>().toEqualTypeOf<z.output<typeof planScheduleSchema>>();
  expectTypeOf<PlanWorld>().toEqualTypeOf<z.output<typeof planWorldSchema>>();
  expectTypeOf<PrefetchAnswer>().toEqualTypeOf<z.output<typeof prefetchAnswerSchema>>();
  expectTypeOf<PreviewAnswer>().toEqualTypeOf<z.output<typeof previewAnswerSchema>>();
  expectTypeOf<PreviewInput>().toEqualTypeOf<z.input<typeof previewSchema>>();
  expectTypeOf<PrintedLine>().toEqualTypeOf<z.output<typeof printedLineSchema>>();
  expectTypeOf<Problem>().toEqualTypeOf<z.output<typeof problemSchema>>();
  expectTypeOf<PutBackupSettingsInput>().toEqualTypeOf<z.input<typeof putBackupSettingsSchema>>();
  expectTypeOf<RawQuery>().toEqualTypeOf<z.input<typeof rawQuerySchema>>();
  expectTypeOf<Readiness>().toEqualTypeOf<z.output<typeof readinessSchema>>();
  expectTypeOf<RestoreBackupInput>().toEqualTypeOf<z.input<typeof restoreBackupSchema>>();
  expectTypeOf<RestoreInput>().toEqualTypeOf<z.input<typeof restoreSchema>>();
  expectTypeOf<RestoreInstanceInput>().toEqualTypeOf<z.input<typeof restoreInstanceSchema>>();
  expectTypeOf<Restored>().toEqualTypeOf<z.output<typeof restoredSchema>>();
  expectTypeOf<RestoredMoment>().toEqualTypeOf<z.output<typeof restoredMomentSchema>>();
  expectTypeOf<ResumeAnswer>().toEqualTypeOf<z.output<typeof resumeAnswerSchema>>();
  expectTypeOf<ResumeInput>().toEqualTypeOf<z.input<typeof resumeSchema>>();
  expectTypeOf<RunOutput>().toEqualTypeOf<z.output<typeof runOutputSchema>>();
  expectTypeOf<RunOutputQuery>().toEqualTypeOf<z.input<typeof runOutputQuerySchema>>();
  expectTypeOf<RunPiece>().toEqualTypeOf<z.output<typeof runPieceSchema>>();
  expectTypeOf<RunPlanInput>().toEqualTypeOf<z.input<typeof runPlanSchema>>();
  expectTypeOf<RunsQuery>().toEqualTypeOf<z.input<typeof runsQuerySchema>>();
  expectTypeOf<SalvageAnswer>().toEqualTypeOf<z.output<typeof salvageAnswerSchema>>();
  expectTypeOf<SalvageInput>().toEqualTypeOf<z.input<typeof salvageSchema>>();
  expectTypeOf<SandboxRun>().toEqualTypeOf<z.output<typeof sandboxRunSchema>>();
  expectTypeOf<Schedule>().toEqualTypeOf<z.output<typeof scheduleSchema>>();
  expectTypeOf<ScheduleRun>().toEqualTypeOf<z.output<typeof scheduleRunSchema>>();
  expectTypeOf<SchedulesQuery>().toEqualTypeOf<z.input<typeof schedulesQuerySchema>>();
  expectTypeOf<SearchHit>().toEqualTypeOf<z.output<typeof searchHitSchema>>();
  expectTypeOf<SearchQuery>().toEqualTypeOf<z.input<typeof searchQuerySchema>>();
  expectTypeOf<Secret>().toEqualTypeOf<z.output<typeof secretSchema>>();
  expectTypeOf<SecretInput>().toEqualTypeOf<z.input<typeof secretInputSchema>>();
  expectTypeOf<SegmentHead>().toEqualTypeOf<z.output<typeof segmentHeadSchema>>();
  expectTypeOf<Session>().toEqualTypeOf<z.output<typeof sessionSchema>>();
  expectTypeOf<Settings>().toEqualTypeOf<z.output<typeof settingsSchema>>();
  expectTypeOf<SettingsPatchInput>().toEqualTypeOf<z.input<typeof settingsPatchSchema>>();
  expectTypeOf<Share>().toEqualTypeOf<z.output<typeof shareSchema>>();
  expectTypeOf<SharesQuery>().toEqualTypeOf<z.input<typeof sharesQuerySchema>>();
  expectTypeOf<ShipInput>().toEqualTypeOf<z.input<typeof shipSchema>>();
  expectTypeOf<SimulateInput>().toEqualTypeOf<z.input<typeof simulateSchema>>();
  expectTypeOf<Simulation>().toEqualTypeOf<z.output<typeof simulationSchema>>();
  expectTypeOf<Snapshot>().toEqualTypeOf<z.output<typeof snapshotSchema>>();
  expectTypeOf<SnapshotsQuery>().toEqualTypeOf<z.input<typeof snapshotsQuerySchema>>();
  expectTypeOf<SqlAnswer>().toEqualTypeOf<z.output<typeof sqlAnswerSchema>>();
  expectTypeOf<SqlInput>().toEqualTypeOf<z.input<typeof sqlSchema>>();
  expectTypeOf<StartJobInput>().toEqualTypeOf<z.input<typeof startJobSchema>>();
  expectTypeOf<StartRunInput>().toEqualTypeOf<z.input<typeof startRunSchema>>();
  expectTypeOf<Storage>().toEqualTypeOf<z.output<typeof storageSchema>>();
  expectTypeOf<StorageCheckInput>().toEqualTypeOf<z.input<typeof storageCheckSchema>>();
  expectTypeOf<StreamQuery>().toEqualTypeOf<z.input<typeof streamQuerySchema>>();
  expectTypeOf<TakeBackInput>().toEqualTypeOf<z.input<typeof takeBackSchema>>();
  expectTypeOf<TakeSnapshotInput>().toEqualTypeOf<z.input<typeof takeSnapshotSchema>>();
  expectTypeOf<TakenBack>().toEqualTypeOf<z.output<typeof takenBackSchema>>();
  expectTypeOf<Tenant>().toEqualTypeOf<z.output<typeof tenantSchema>>();
  expectTypeOf<TenantForgetPlan>().toEqualTypeOf<z.output<typeof tenantForgetPlanSchema>>();
  expectTypeOf<TenantNetwork>().toEqualTypeOf<z.output<typeof tenantNetworkSchema>>();
  expectTypeOf<TenantNetworkInput>().toEqualTypeOf<z.input<typeof tenantNetworkInputSchema>>();
  expectTypeOf<TenantPatchInput>().toEqualTypeOf<z.input<typeof tenantPatchSchema>>();
  expectTypeOf<TenantUsage>().toEqualTypeOf<z.output<typeof tenantUsageSchema>>();
  expectTypeOf<TenantsQuery>().toEqualTypeOf<z.input<typeof tenantsQuerySchema>>();
  expectTypeOf<Terminal>().toEqualTypeOf<z.output<typeof terminalSchema>>();
  expectTypeOf<TerminalLineInput>().toEqualTypeOf<z.input<typeof terminalLineSchema>>();
  expectTypeOf<TopLoad>().toEqualTypeOf<z.output<typeof topLoadSchema>>();
  expectTypeOf<TopLoadQuery>().toEqualTypeOf<z.input<typeof topLoadQuerySchema>>();
  expectTypeOf<UndoRestoreInput>().toEqualTypeOf<z.input<typeof undoRestoreSchema>>();
  expectTypeOf<UpgradeAnswer>().toEqualTypeOf<z.output<typeof upgradeAnswerSchema>>();
  expectTypeOf<UpgradeChange>().toEqualTypeOf<z.output<typeof upgradeChangeSchema>>();
  expectTypeOf<UpgradeQuery>().toEqualTypeOf<z.input<typeof upgradeQuerySchema>>();
  expectTypeOf<UsageQuery>().toEqualTypeOf<z.input<typeof usageQuerySchema>>();
  expectTypeOf<Variable>().toEqualTypeOf<z.output<typeof variableSchema>>();
  expectTypeOf<VerbBodyInput>().toEqualTypeOf<z.input<typeof verbBodySchema>>();
  expectTypeOf<VolumeInfo>().toEqualTypeOf<z.output<typeof volumeInfoSchema>>();
  expectTypeOf<WakeTime>().toEqualTypeOf<z.output<typeof wakeTimeSchema>>();
  expectTypeOf<WakeTimesQuery>().toEqualTypeOf<z.input<typeof wakeTimesQuerySchema>>();
  expectTypeOf<Webhook>().toEqualTypeOf<z.output<typeof webhookSchema>>();
  expectTypeOf<WebhookDelivery>().toEqualTypeOf<z.output<typeof webhookDeliverySchema>>();
  expectTypeOf<WebhookInput>().toEqualTypeOf<z.input<typeof webhookInputSchema>>();
  expectTypeOf<WebhookPatchInput>().toEqualTypeOf<z.input<typeof webhookPatchSchema>>();
  expectTypeOf<WebhookSecret>().toEqualTypeOf<z.output<typeof webhookSecretSchema>>();
  expectTypeOf<WebhooksQuery>().toEqualTypeOf<z.input<typeof webhooksQuerySchema>>();
  expectTypeOf<Workbook>().toEqualTypeOf<z.output<typeof workbookSchema>>();
  expectTypeOf<WorkbookPlan>().toEqualTypeOf<z.output<typeof workbookPlanSchema>>();
  expectTypeOf<WorkbookQuery>().toEqualTypeOf<z.input<typeof workbookQuerySchema>>();
  expectTypeOf<WorkbookVersion>().toEqualTypeOf<z.output<typeof workbookVersionSchema>>();
  expectTypeOf<WorkbookVersionQuery>().toEqualTypeOf<z.input<typeof workbookVersionQuerySchema>>();
  expectTypeOf<WorkbookVersionsQuery>().toEqualTypeOf<z.input<typeof workbookVersionsQuerySchema>>();
  expectTypeOf<WorkbooksQuery>().toEqualTypeOf<z.input<typeof workbooksQuerySchema>>();
  expectTypeOf<WorkflowCallAnswer>().toEqualTypeOf<z.output<typeof workflowCallAnswerSchema>>();
  expectTypeOf<WorkflowCallInput>().toEqualTypeOf<z.input<typeof workflowCallSchema>>();
});
