/** What the parts of a look share. */
import type { RegistryFile } from '../registry/sqlite/registry-file.ts';
import type { KeptFile } from '../storage/inventory.ts';
import type { Readers } from '../vfs/types.ts';
import type { Examined, Finding, Orphan } from './findings.ts';

export interface Files {
  kept: KeptFile[];
  /** Those of sandboxes, by their key. */
  byKey: Map<string, KeptFile[]>;
  /** By the id that they were set aside under, newest first. */
  orphans: Map<string, Orphan[]>;
}

export interface Looking {
  dataFolder: string;
  /** Null: there is none, or it cannot be read. */
  registry: RegistryFile | null;
  files: Files;
  readers: Readers | null;
  examined: Examined;
  find(finding: Finding): void;
}

/** Ids of instances, tombstones included, and of those that are archived. */
export interface Rows {
  seen: Set<string>;
  archived: Set<string>;
}
