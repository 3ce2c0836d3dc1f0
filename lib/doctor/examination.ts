/** What the parts of a look share. */
import type { RegistryMoment } from '../registry/driver.ts';
import type { DrawerAccess } from '../sandboxes/files/file-locations.ts';
import type { KeptFile } from '../storage/inventory.ts';
import type { Readers } from '../vfs/types.ts';
import type { ExaminationResult, Finding, Orphan } from './findings.ts';

export interface DrawerFiles {
  kept: KeptFile[];
  /** Those of sandboxes, by their key. */
  byKey: Map<string, KeptFile[]>;
  /** By the id that they were set aside under, newest first. */
  orphans: Map<string, Orphan[]>;
}

export interface Examination extends DrawerAccess {
  /** Null: there is none, or it cannot be read. */
  registry: RegistryMoment | null;
  files: DrawerFiles;
  readers: Readers | null;
  examined: ExaminationResult;
  /** The host whose files are looked for; null: everybody's. */
  onlyOf: string | null;
  find(finding: Finding): void;
}

/** Ids of instances, tombstones included, and of those that are archived. */
export interface ExaminedRows {
  seen: Set<string>;
  archived: Set<string>;
}
