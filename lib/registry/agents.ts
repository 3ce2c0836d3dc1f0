/** Rows of agents: a name of a tenant, the snapshot that holds its files, and what is half done. Knows no files. */
import type { InstanceId } from '../base/ids.ts';
import type { LedgerEntry, RowPage } from './types.ts';

export interface AgentRow {
  tenant: string;
  name: string;
  /** A UUID. */
  id: string;
  version: number;
  /** The snapshot that holds its files. Null: it is being made for the first time. */
  snapshot: string | null;
  /** The sandbox that its next files are put into; null while nobody deploys it. */
  making: InstanceId | null;
  /** The snapshot of the version before, until that is deleted. */
  replaced: string | null;
  description: string | null;
  model: string | null;
  /** Variables that its sessions begin with. */
  env: Record<string, string>;
  /** Epoch seconds, as the next. */
  created: number;
  updated: number;
  updatedBy: string;
}

/** Names one agent. */
export type AgentKey = Pick<AgentRow, 'tenant' | 'name'>;

/** Each method that changes something is one durable transaction, its ledger line included. */
export interface AgentStore {
  /** The row, also of one that is being made, or null. */
  get(key: AgentKey): Promise<AgentRow | null>;
  /** Those that are made, by tenant and name: of some tenants, or of all. */
  list(tenants: readonly string[] | null, limit: number, cursor?: string): Promise<RowPage<AgentRow>>;
  /** Those of which something is half done. */
  unfinished(): Promise<AgentRow[]>;
  /** Inserts one. Throws `conflict` for a name that is taken. */
  add(agent: AgentRow): Promise<void>;
  /** Changes members of one. Null when there is none. */
  change(
    key: AgentKey,
    patch: Partial<Omit<AgentRow, 'tenant' | 'name' | 'id'>>,
    ledger?: LedgerEntry,
  ): Promise<AgentRow | null>;
  /** False when there is none. */
  remove(key: AgentKey, ledger?: LedgerEntry): Promise<boolean>;
}
