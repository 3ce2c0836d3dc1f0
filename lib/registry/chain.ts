/**
 * The chain of the ledger's lines: each line's hash is the SHA-256 of the previous hash and the line's canonical text.
 * Pure: anyone who has the lines can recompute it.
 */
import { hash } from 'node:crypto';
import type { LedgerEntry, LedgerLine } from './types.ts';

/** A line with its hash: 64 lower-case hex digits. */
export interface ChainedLine extends LedgerLine {
  hash: string;
  /**
   * The signed note that replaces the texts of a line whose tenant was forgotten; null otherwise. The hash covers the
   * original line, so it cannot be recomputed from the note.
   */
  blanked: string | null;
}

/** The end of a chain: number and hash of its last line. */
export interface ChainHead {
  seq: number;
  hash: string;
}

/** The hash before the first line. */
export const CHAIN_START: ChainHead = { seq: 0, hash: '0'.repeat(64) };

/**
 * The canonical text that a line's hash covers: JSON with the contract's names, in this order, without null members. A
 * member that is added later changes no older line.
 */
export function canonicalLine(line: LedgerEntry & { seq: number }): string {
  return JSON.stringify({
    seq: line.seq,
    time_ms: line.timeMs,
    instance: line.instance ?? undefined,
    tenant: line.tenant ?? undefined,
    type: line.type,
    from: line.from ?? undefined,
    to: line.to ?? undefined,
    trigger: line.trigger,
    actor: line.actor,
    via: line.via,
    source: line.source ?? undefined,
    took_ms: line.tookMs ?? undefined,
    reason: line.reason ?? undefined,
    error: line.error ?? undefined,
    request_id: line.requestId ?? undefined,
    address: line.address ?? undefined,
  });
}

/** SHA-256 over the previous hash, as its 64 hex digits, followed by the canonical text. */
export function chainHash(previous: string, canonical: string): string {
  return hash('sha256', previous + canonical, 'hex');
}
