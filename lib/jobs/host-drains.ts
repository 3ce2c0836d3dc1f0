/**
 * Empties this host once its row says so: begins the job that the row names, which chooses what the host has by then.
 * A start that finds the job goes on with it (runner.ts). Says nothing of who may ask for it.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { HostWatch } from '../hosts/host-watch.ts';
import { eachOf } from '../registry/each-of.ts';
import type { HostDrain } from '../registry/hosts.ts';
import type { NewJob } from '../registry/jobs.ts';
import type { Registry } from '../registry/registry.ts';
import type { HostIdentity } from '../registry/types.ts';
import { type JobRunner, jobLine } from './runner.ts';

interface HostDrainsParts {
  registry: Pick<Registry, 'jobs'>;
  runner: Pick<JobRunner, 'take'>;
  /** Null: nobody else uses the registry, so nobody could take anything over. */
  watch: Pick<HostWatch, 'get' | 'onLook'> | null;
  host: Pick<HostIdentity, 'name'>;
  clock: Clock;
  log: Logger;
}

export class HostDrains {
  readonly #parts: HostDrainsParts;
  /** The job that was begun last, or that is being begun. */
  #begun: string | null = null;
  #beginning: Promise<void> = Promise.resolve();
  #leave = () => {};

  constructor(parts: HostDrainsParts) {
    this.#parts = parts;
  }

  /** Begins what is asked for already, and whatever will be. */
  start(): void {
    const { watch } = this.#parts;
    if (watch === null) return;
    this.#leave = watch.onLook(() => this.#look());
    this.#look();
  }

  /** Begins nothing more. Idempotent. */
  async stop(): Promise<void> {
    this.#leave();
    await this.#beginning;
  }

  #look(): void {
    const { watch, host, log } = this.#parts;
    const drain = watch?.get(host.name)?.drain ?? null;
    if (drain === null || drain.job === this.#begun) return;
    this.#begun = drain.job;
    this.#beginning = this.#begin(drain).catch((error: unknown) => {
      // The next look tries it again.
      this.#begun = null;
      log.warn({ err: error }, 'emptying this host was not begun');
    });
  }

  async #begin({ job: id, reason, includeHeld, actor, via, address }: HostDrain): Promise<void> {
    const { registry, runner, host, clock } = this.#parts;
    const known = await registry.jobs.get(id);
    if (known !== null) return known.state === 'running' ? runner.take(known) : undefined;
    const filter = { host: host.name };
    const rows: number[] = [];
    for await (const { row } of eachOf(await registry.jobs.select({ filter }))) rows.push(row);
    const by = { reason, actor, via, address };
    const job: NewJob = {
      ...by,
      ...{ id, verb: 'drain', labels: null, request: { filter }, includeHeld, tenants: null },
      created: epochSeconds(clock),
    };
    const audit = { ...by, trigger: 'operator', requestId: id } as const;
    const line = jobLine({ clock }, job, audit, 'job.started', `${rows.length} chosen, job ${id}`);
    await runner.take(await registry.jobs.add(job, Uint32Array.from(rows), [], line));
  }
}
