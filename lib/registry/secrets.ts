/**
 * Rows of secrets, which a tenant or one of its sandboxes has. What is secret in them is encrypted: this stores it and
 * cannot read it.
 */
import type { InstanceId } from '../base/ids.ts';
import type { LedgerEntry } from './types.ts';

/** What a secret is sealed for: none of it can be changed without the secret. */
export interface SecretTerms {
  tenant: string;
  /** Empty: every sandbox of the tenant. */
  instance: InstanceId | '';
  name: string;
  url: string;
  header: string;
  format: string;
}

/** Names one secret. */
export type SecretKey = Pick<SecretTerms, 'tenant' | 'instance' | 'name'>;

export interface SecretRow extends SecretTerms {
  sealed: string;
  /** Epoch seconds, as the other times. */
  created: number;
  createdBy: string;
  updated: number;
  updatedBy: string;
  lastUsed: number | null;
}

/** A secret that is sealed again. */
export type Resealed = SecretKey & { from: string; sealed: string };

/** Each method that changes something is one durable transaction, its ledger line included. */
export interface SecretStore {
  /** Inserts or replaces one. Throws `quota_exceeded` when its tenant or sandbox has `most`. */
  put(
    secret: SecretTerms & { sealed: string },
    by: { now: number; actor: string },
    most: number,
    ledger: LedgerEntry,
  ): Promise<{ row: SecretRow; created: boolean }>;
  /** Those of a tenant itself, or of one sandbox, by name. */
  list(tenant: string, instance: InstanceId | ''): Promise<SecretRow[]>;
  /** Those that a sandbox may use: its own and its tenant's. */
  usable(tenant: string, instance: InstanceId): Promise<SecretRow[]>;
  /** Every one, by tenant. */
  all(): Promise<SecretRow[]>;
  /** False when there is none. */
  remove(key: SecretKey, ledger: LedgerEntry): Promise<boolean>;
  /**
   * Puts other sealed texts in the place of those that were read, which seal the same. Leaves out what was changed
   * since. Returns how many were replaced.
   */
  reseal(changes: readonly Resealed[]): Promise<number>;
  /** Notes when it was used. Not synced: a power cut may lose it. */
  used(key: SecretKey, now: number): Promise<void>;
}
