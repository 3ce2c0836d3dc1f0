import type { LedgerEntry, RowPage } from './types.ts';

/** What was read from a source. */
interface WorkbookContent {
  title: string | null;
  /** SHA-256 of the source's bytes: lower-case hex. */
  hash: string;
  bytes: number;
  /** Null when the source has problems. */
  components: number | null;
  /** How many there are. */
  problems: number;
}

export interface WorkbookRow extends WorkbookContent {
  tenant: string;
  id: string;
  /** The newest. */
  version: number;
  /** Epoch seconds, as the next. */
  created: number;
  updated: number;
  updatedBy: string;
  /** Sandboxes that are docked to any version of it, deleted ones aside. */
  docked: number;
}

interface WorkbookVersionRow extends WorkbookContent {
  version: number;
  created: number;
  createdBy: string;
}

interface StoredWorkbook extends WorkbookVersionRow {
  tenant: string;
  id: string;
  source: string;
  /** JSON of the plan; null when there are problems. */
  plan: string | null;
  /** JSON of the problems. */
  problemList: string;
  /** Which plan builder made the plan. */
  builder: number;
  /** How many schedules the plan declares. */
  schedules: number;
}

/** What a plan builder made of a source that is stored. */
type RebuiltVersion = Pick<
  StoredWorkbook,
  'tenant' | 'id' | 'version' | 'title' | 'components' | 'problems' | 'plan' | 'problemList' | 'builder' | 'schedules'
>;

/** A source to store. */
export interface NewWorkbookVersion extends Omit<StoredWorkbook, 'version' | 'created' | 'createdBy'> {
  /** Epoch seconds. */
  now: number;
  actor: string;
}

/** What must hold for a source to be stored. */
export interface WorkbookCondition {
  /** The newest version is one of these; `*`: there is any. */
  ifMatch?: '*' | readonly number[];
  /** The newest version is none of these; `*`: there is no such workbook. */
  ifNoneMatch?: '*' | readonly number[];
}

interface WorkbookFilter {
  tenant?: string;
  /** Only these tenants. */
  tenants?: readonly string[];
  /** Part of the id or the title, in any case. */
  text?: string;
}

export interface WorkbookStore {
  /**
   * Stores a version, with its ledger line, unless the newest one has the same hash. At most `keep` versions are kept:
   * the oldest that no sandbox is docked to go first. Throws `precondition_failed`, and `quota_exceeded` when the
   * tenant has `most` workbooks already.
   */
  put(
    version: NewWorkbookVersion,
    limits: { keep: number; most: number },
    ledger: LedgerEntry,
    condition?: WorkbookCondition,
  ): Promise<{ row: WorkbookRow; stored: boolean; created: boolean }>;
  get(tenant: string, id: string): Promise<WorkbookRow | null>;
  /** Those of one id, of some tenants (null: all), at most `limit`. */
  ofId(id: string, tenants: readonly string[] | null, limit: number): Promise<WorkbookRow[]>;
  /** Of one hash, the first by id whose newest version has it; null when there is none. */
  ofHash(tenant: string, hash: string): Promise<WorkbookRow | null>;
  /** By tenant and id. A malformed cursor throws `validation`. */
  list(filter: WorkbookFilter, limit: number, cursor?: string): Promise<RowPage<WorkbookRow>>;
  /** A version with its source, or null. */
  version(tenant: string, id: string, version: number): Promise<StoredWorkbook | null>;
  /** The plan of a version, or null: without its source. */
  planOf(
    tenant: string,
    id: string,
    version: number,
  ): Promise<{ version: number; hash: string; plan: string | null; builder: number } | null>;
  /**
   * Takes over what a newer plan builder made of a version; the schedules of sandboxes that are docked to it are
   * brought in line again. Nothing when the version is gone, or has a plan as new.
   */
  rebuild(version: RebuiltVersion): Promise<void>;
  /** Newest first. A malformed cursor throws `validation`. */
  versions(tenant: string, id: string, limit: number, cursor?: string): Promise<RowPage<WorkbookVersionRow>>;
  /** Removes it with all versions. False when there is none. Throws `conflict` while a sandbox is docked to it. */
  remove(tenant: string, id: string, ledger: LedgerEntry): Promise<boolean>;
}
