/**
 * The output of all runs in memory, within the limits of a run, of a tenant and of the server. Over a limit the output
 * of the run that ended longest ago goes first, then the oldest of what the writing run has. Knows nothing of rows.
 */
import type { Config } from '../base/config.ts';
import type { OutputChunk } from '../workers/protocol/instance.ts';
import { OutputRing } from './output-ring.ts';

type Limits = Pick<Config, 'runOutputBytes' | 'runOutputBytesPerTenant' | 'runOutputBytesTotal'>;

interface KeptOutput {
  tenant: string;
  ring: OutputRing;
}

export class KeptOutputs {
  readonly #limits: Limits;
  readonly #outputs = new Map<string, KeptOutput>();
  /** Runs that have ended, the longest ago first: of all, and by tenant. */
  readonly #ended = new Set<string>();
  readonly #endedOf = new Map<string, Set<string>>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The ring of a run; null when its output has gone. */
  get(run: string): OutputRing | null {
    return this.#outputs.get(run)?.ring ?? null;
  }

  open(run: string, tenant: string): void {
    const kept = { tenant, ring: new OutputRing(this.#limits.runOutputBytes) };
    this.#outputs.set(run, kept);
    this.#count(tenant, kept.ring.cost);
    this.#makeRoom(kept);
  }

  push(run: string, stream: OutputChunk['stream'], bytes: Uint8Array, skipped = 0): void {
    const kept = this.#outputs.get(run);
    if (kept === undefined) return;
    const before = kept.ring.cost;
    kept.ring.push(stream, bytes, skipped);
    this.#count(kept.tenant, kept.ring.cost - before);
    this.#makeRoom(kept);
  }

  /** The run has ended: its output may go when room is needed. */
  ended(run: string): void {
    const tenant = this.#outputs.get(run)?.tenant;
    if (tenant === undefined) return;
    this.#ended.add(run);
    const ofTenant = this.#endedOf.get(tenant) ?? new Set();
    this.#endedOf.set(tenant, ofTenant.add(run));
  }

  remove(run: string): void {
    const kept = this.#outputs.get(run);
    if (kept === undefined) return;
    this.#outputs.delete(run);
    this.#ended.delete(run);
    const ofTenant = this.#endedOf.get(kept.tenant);
    ofTenant?.delete(run);
    if (ofTenant?.size === 0) this.#endedOf.delete(kept.tenant);
    this.#count(kept.tenant, -kept.ring.cost);
  }

  #makeRoom(writing: KeptOutput): void {
    const { runOutputBytesPerTenant, runOutputBytesTotal } = this.#limits;
    const over = () =>
      Math.max((this.#bytesOf.get(writing.tenant) ?? 0) - runOutputBytesPerTenant, this.#bytes - runOutputBytesTotal);
    while (over() > 0) {
      const isOfTenant = (this.#bytesOf.get(writing.tenant) ?? 0) > runOutputBytesPerTenant;
      const ended = isOfTenant ? this.#endedOf.get(writing.tenant) : this.#ended;
      const oldest = ended?.values().next().value;
      if (oldest === undefined) break;
      this.remove(oldest);
    }
    const excess = over();
    if (excess <= 0) return;
    const before = writing.ring.cost;
    writing.ring.trim(Math.max(0, before - excess));
    this.#count(writing.tenant, writing.ring.cost - before);
  }

  #count(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    const ofTenant = (this.#bytesOf.get(tenant) ?? 0) + bytes;
    if (ofTenant <= 0) this.#bytesOf.delete(tenant);
    else this.#bytesOf.set(tenant, ofTenant);
  }
}
