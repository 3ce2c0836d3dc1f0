/**
 * Holds each plain type against its schema; the compiler does the work. Printed by `npm run client:calls`. Not to be
 * written by hand.
 */
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type {
  attachmentSchema,
  blueprintSchema,
  blueprintsQuerySchema,
  checkoutQuerySchema,
  cloneSchema,
  createBlueprintQuerySchema,
  createBlueprintSchema,
  createdKeySchema,
  createSchema,
  deleteFolderQuerySchema,
  deleteSchema,
  dryRunSchema,
  endSessionQuerySchema,
  evalAnswerSchema,
  evalSchema,
  eventSchema,
  eventsQuerySchema,
  execAnswerSchema,
  execSchema,
  exportQuerySchema,
  fileInfoSchema,
  filesQuerySchema,
  folderItemSchema,
  folderQuerySchema,
  forgetTenantSchema,
  forgettingStartedSchema,
  healthSchema,
  importQuerySchema,
  inspectionSchema,
  instanceEventsQuerySchema,
  instanceSchema,
  instanceSharesQuerySchema,
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
  lineageSchema,
  listQuerySchema,
  makeFolderSchema,
  meSchema,
  moveSchema,
  passwordChangeSchema,
  patchSchema,
  personPatchSchema,
  personSchema,
  planQuerySchema,
  planSchema,
  prefetchAnswerSchema,
  previewAnswerSchema,
  previewSchema,
  problemSchema,
  rawQuerySchema,
  restoreInstanceSchema,
  restoreSchema,
  resumeAnswerSchema,
  resumeSchema,
  runPlanSchema,
  salvageAnswerSchema,
  salvageSchema,
  searchHitSchema,
  searchQuerySchema,
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
  storageCheckSchema,
  storageSchema,
  streamQuerySchema,
  takeSnapshotSchema,
  tenantForgetPlanSchema,
  tenantPatchSchema,
  tenantSchema,
  tenantsQuerySchema,
  verbBodySchema,
  volumeInfoSchema,
  wakeTimeSchema,
  wakeTimesQuerySchema,
} from '../contract/schema.ts';
import type {
  Attachment,
  Blueprint,
  BlueprintsQuery,
  CheckoutQuery,
  CloneInput,
  CreateBlueprintInput,
  CreateBlueprintQuery,
  CreatedKey,
  CreateInput,
  DeleteFolderQuery,
  DeleteInput,
  DryRun,
  EndSessionQuery,
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
  Health,
  ImportQuery,
  Inspection,
  Instance,
  InstanceEventsQuery,
  InstanceSharesQuery,
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
  Lineage,
  ListQuery,
  MakeFolderInput,
  Me,
  MoveInput,
  PasswordChangeInput,
  PatchInput,
  Person,
  PersonPatchInput,
  Plan,
  PlanQuery,
  PrefetchAnswer,
  PreviewAnswer,
  PreviewInput,
  Problem,
  RawQuery,
  RestoreInput,
  RestoreInstanceInput,
  ResumeAnswer,
  ResumeInput,
  RunPlanInput,
  SalvageAnswer,
  SalvageInput,
  SearchHit,
  SearchQuery,
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
  Storage,
  StorageCheckInput,
  StreamQuery,
  TakeSnapshotInput,
  Tenant,
  TenantForgetPlan,
  TenantPatchInput,
  TenantsQuery,
  VerbBodyInput,
  VolumeInfo,
  WakeTime,
  WakeTimesQuery,
} from './types.ts';

test('the plain types of the client are those of the contract’s schemas', () => {
  expectTypeOf<Attachment>().toEqualTypeOf<z.output<typeof attachmentSchema>>();
  expectTypeOf<Blueprint>().toEqualTypeOf<z.output<typeof blueprintSchema>>();
  expectTypeOf<BlueprintsQuery>().toEqualTypeOf<z.input<typeof blueprintsQuerySchema>>();
  expectTypeOf<CheckoutQuery>().toEqualTypeOf<z.input<typeof checkoutQuerySchema>>();
  expectTypeOf<CloneInput>().toEqualTypeOf<z.input<typeof cloneSchema>>();
  expectTypeOf<CreateBlueprintInput>().toEqualTypeOf<z.input<typeof createBlueprintSchema>>();
  expectTypeOf<CreateBlueprintQuery>().toEqualTypeOf<z.input<typeof createBlueprintQuerySchema>>();
  expectTypeOf<CreateInput>().toEqualTypeOf<z.input<typeof createSchema>>();
  expectTypeOf<CreatedKey>().toEqualTypeOf<z.output<typeof createdKeySchema>>();
  expectTypeOf<DeleteFolderQuery>().toEqualTypeOf<z.input<typeof deleteFolderQuerySchema>>();
  expectTypeOf<DeleteInput>().toEqualTypeOf<z.input<typeof deleteSchema>>();
  expectTypeOf<DryRun>().toEqualTypeOf<z.output<typeof dryRunSchema>>();
  expectTypeOf<EndSessionQuery>().toEqualTypeOf<z.input<typeof endSessionQuerySchema>>();
  expectTypeOf<EvalAnswer>().toEqualTypeOf<z.output<typeof evalAnswerSchema>>();
  expectTypeOf<EvalInput>().toEqualTypeOf<z.input<typeof evalSchema>>();
  expectTypeOf<Event>().toEqualTypeOf<z.output<typeof eventSchema>>();
  expectTypeOf<EventsQuery>().toEqualTypeOf<z.input<typeof eventsQuerySchema>>();
  expectTypeOf<ExecAnswer>().toEqualTypeOf<z.output<typeof execAnswerSchema>>();
  expectTypeOf<ExecInput>().toEqualTypeOf<z.input<typeof execSchema>>();
  expectTypeOf<ExportQuery>().toEqualTypeOf<z.input<typeof exportQuerySchema>>();
  expectTypeOf<FileInfo>().toEqualTypeOf<z.output<typeof fileInfoSchema>>();
  expectTypeOf<FilesQuery>().toEqualTypeOf<z.input<typeof filesQuerySchema>>();
  expectTypeOf<FolderItem>().toEqualTypeOf<z.output<typeof folderItemSchema>>();
  expectTypeOf<FolderQuery>().toEqualTypeOf<z.input<typeof folderQuerySchema>>();
  expectTypeOf<ForgetTenantInput>().toEqualTypeOf<z.input<typeof forgetTenantSchema>>();
  expectTypeOf<ForgettingStarted>().toEqualTypeOf<z.output<typeof forgettingStartedSchema>>();
  expectTypeOf<Health>().toEqualTypeOf<z.output<typeof healthSchema>>();
  expectTypeOf<ImportQuery>().toEqualTypeOf<z.input<typeof importQuerySchema>>();
  expectTypeOf<Inspection>().toEqualTypeOf<z.output<typeof inspectionSchema>>();
  expectTypeOf<Instance>().toEqualTypeOf<z.output<typeof instanceSchema>>();
  expectTypeOf<InstanceEventsQuery>().toEqualTypeOf<z.input<typeof instanceEventsQuerySchema>>();
  expectTypeOf<InstanceSharesQuery>().toEqualTypeOf<z.input<typeof instanceSharesQuerySchema>>();
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
  expectTypeOf<Lineage>().toEqualTypeOf<z.output<typeof lineageSchema>>();
  expectTypeOf<ListQuery>().toEqualTypeOf<z.input<typeof listQuerySchema>>();
  expectTypeOf<MakeFolderInput>().toEqualTypeOf<z.input<typeof makeFolderSchema>>();
  expectTypeOf<Me>().toEqualTypeOf<z.output<typeof meSchema>>();
  expectTypeOf<MoveInput>().toEqualTypeOf<z.input<typeof moveSchema>>();
  expectTypeOf<PasswordChangeInput>().toEqualTypeOf<z.input<typeof passwordChangeSchema>>();
  expectTypeOf<PatchInput>().toEqualTypeOf<z.input<typeof patchSchema>>();
  expectTypeOf<Person>().toEqualTypeOf<z.output<typeof personSchema>>();
  expectTypeOf<PersonPatchInput>().toEqualTypeOf<z.input<typeof personPatchSchema>>();
  expectTypeOf<Plan>().toEqualTypeOf<z.output<typeof planSchema>>();
  expectTypeOf<PlanQuery>().toEqualTypeOf<z.input<typeof planQuerySchema>>();
  expectTypeOf<PrefetchAnswer>().toEqualTypeOf<z.output<typeof prefetchAnswerSchema>>();
  expectTypeOf<PreviewAnswer>().toEqualTypeOf<z.output<typeof previewAnswerSchema>>();
  expectTypeOf<PreviewInput>().toEqualTypeOf<z.input<typeof previewSchema>>();
  expectTypeOf<Problem>().toEqualTypeOf<z.output<typeof problemSchema>>();
  expectTypeOf<RawQuery>().toEqualTypeOf<z.input<typeof rawQuerySchema>>();
  expectTypeOf<RestoreInput>().toEqualTypeOf<z.input<typeof restoreSchema>>();
  expectTypeOf<RestoreInstanceInput>().toEqualTypeOf<z.input<typeof restoreInstanceSchema>>();
  expectTypeOf<ResumeAnswer>().toEqualTypeOf<z.output<typeof resumeAnswerSchema>>();
  expectTypeOf<ResumeInput>().toEqualTypeOf<z.input<typeof resumeSchema>>();
  expectTypeOf<RunPlanInput>().toEqualTypeOf<z.input<typeof runPlanSchema>>();
  expectTypeOf<SalvageAnswer>().toEqualTypeOf<z.output<typeof salvageAnswerSchema>>();
  expectTypeOf<SalvageInput>().toEqualTypeOf<z.input<typeof salvageSchema>>();
  expectTypeOf<SearchHit>().toEqualTypeOf<z.output<typeof searchHitSchema>>();
  expectTypeOf<SearchQuery>().toEqualTypeOf<z.input<typeof searchQuerySchema>>();
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
  expectTypeOf<Storage>().toEqualTypeOf<z.output<typeof storageSchema>>();
  expectTypeOf<StorageCheckInput>().toEqualTypeOf<z.input<typeof storageCheckSchema>>();
  expectTypeOf<StreamQuery>().toEqualTypeOf<z.input<typeof streamQuerySchema>>();
  expectTypeOf<TakeSnapshotInput>().toEqualTypeOf<z.input<typeof takeSnapshotSchema>>();
  expectTypeOf<Tenant>().toEqualTypeOf<z.output<typeof tenantSchema>>();
  expectTypeOf<TenantForgetPlan>().toEqualTypeOf<z.output<typeof tenantForgetPlanSchema>>();
  expectTypeOf<TenantPatchInput>().toEqualTypeOf<z.input<typeof tenantPatchSchema>>();
  expectTypeOf<TenantsQuery>().toEqualTypeOf<z.input<typeof tenantsQuerySchema>>();
  expectTypeOf<VerbBodyInput>().toEqualTypeOf<z.input<typeof verbBodySchema>>();
  expectTypeOf<VolumeInfo>().toEqualTypeOf<z.output<typeof volumeInfoSchema>>();
  expectTypeOf<WakeTime>().toEqualTypeOf<z.output<typeof wakeTimeSchema>>();
  expectTypeOf<WakeTimesQuery>().toEqualTypeOf<z.input<typeof wakeTimesQuerySchema>>();
});
