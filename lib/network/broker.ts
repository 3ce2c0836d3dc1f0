/**
 * Lets requests of sandboxes out: what their list and their tenant's both allow, to public addresses or those that are
 * allowed by name, in bounded size, time and number, and with the headers that secrets add. Follows no redirect: the
 * guest asks again, and is asked again.
 */
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { type InstanceId, parseInstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { createAddressPolicy, type Resolve } from '../outgoing/address-policy.ts';
import {
  allowedByBoth,
  MOST_ANSWER_BYTES,
  MOST_REQUEST_MS,
  MOST_WAITING,
  MOST_WAITING_OF_TENANT,
  NETWORK_DEFAULTS,
  PARALLEL,
  PARALLEL_OF_SANDBOX,
} from '../outgoing/network-limits.ts';
import { failureOf, type OutgoingAnswer, sendOutgoing } from '../outgoing/send.ts';
import { LONGEST_URL, parseOutgoingUrl, rulesFor, type UrlRule } from '../outgoing/url-rules.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { NetworkPolicyRow, NetworkSubject } from '../registry/network.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { SecretHeader, Secrets } from '../secrets/secrets.ts';
import {
  type FetchAnswer,
  type FetchFailure,
  type FetchHost,
  type FetchRequest,
  noNetwork,
} from '../workers/protocol/fetch-messages.ts';
import { profileOf } from '../workers/protocol/policies.ts';
import { answered, Refusal, sizeOfAnswer, sizeOfRequest } from './answers.ts';
import { requestHeaders } from './headers.ts';
import { HeldBytes } from './held-bytes.ts';
import { Lookups } from './lookups.ts';
import { Meter, type MeterLimits } from './meters.ts';
import { type CarriedBytes, Traffic } from './traffic.ts';
import { type NetworkUse, useInWords } from './uses.ts';

interface BrokerParts {
  registry: Pick<Registry, 'instances' | 'network' | 'ledger' | 'commitEvents'>;
  clock: Clock;
  log: Logger;
  config: Pick<Config, 'usageKeepDays'>;
  secrets: Pick<Secrets, 'headersFor'>;
  /** Default: the system's. */
  resolve?: Resolve | undefined;
}

/** What is refused because of a limit is answered this late. */
const SLOWED_MS = 100;
/** How often it is looked whether an hour is over, of which the ledger is told. */
const TELL_EVERY_MS = 60_000;
/** Meters in memory; without one the bytes of the day are read from the registry. */
const MOST_METERS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const HOST_ERROR_LENGTH = 300;

const TOO_MUCH_HELD = 'the requests and answers of its tenant take too much memory: try again';

/** Where a request goes: scheme, host and port, empty for an address that is none. */
interface Destination {
  host: string;
  method: string;
}

/** One of the two whose limits apply to a request. */
interface Side {
  meter: Meter;
  limits: MeterLimits;
  of: string;
}

/** A request that waits for its turn. */
interface Turn {
  id: string;
  begin: () => void;
}

export class NetworkBroker {
  readonly #parts: BrokerParts;
  readonly #traffic: Traffic;
  readonly #meters = new Map<string, Promise<Meter>>();
  readonly #waiting = new FairQueue<Turn>();
  readonly #held = new HeldBytes();
  readonly #lookups: Lookups;
  /** Requests under way, by sandbox. */
  readonly #running = new Map<string, number>();
  readonly #stop = new AbortController();
  #count = 0;
  #stopListening: () => void = () => {};
  #telling: NodeJS.Timeout | undefined;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    this.#traffic = new Traffic(parts);
    this.#lookups = new Lookups(parts.resolve);
  }

  start(): void {
    this.#traffic.start();
    // A sandbox that was filed is not asked any more: its counts are on disk with it, whatever ends the server.
    this.#stopListening = this.#parts.registry.commitEvents.onLedgerAppend(({ lines }) => {
      const filed = lines.flatMap(({ type, from, instance }) => {
        return type === 'transition' && from === 'active' && instance !== null ? [instance] : [];
      });
      if (filed.some((id) => this.#traffic.waitsFor(id))) this.flush().catch(() => {});
      if (filed.length > 0) void this.#tell(this.#traffic.uses.take({ ids: new Set(filed) }));
    });
    this.#telling = setInterval(() => {
      void this.#tellLiving(this.#traffic.uses.take({ before: this.#traffic.hour() }));
    }, TELL_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    clearInterval(this.#telling);
    await this.#tellLiving(this.#traffic.uses.take({}));
    await this.#traffic.stop();
  }

  /** A request may end after its sandbox was deleted: of one whose tenant is forgotten nothing is written any more. */
  async #tellLiving(uses: readonly NetworkUse[]): Promise<void> {
    const rows = await Promise.all(uses.map(({ id }) => this.#parts.registry.instances.get(id).catch(() => null)));
    await this.#tell(uses.filter((_, at) => rows[at] !== null && rows[at]?.state !== 'deleted'));
  }

  /** Writes what sandboxes used of the network into the ledger: a line each, when they are filed and once an hour. */
  async #tell(uses: readonly NetworkUse[]): Promise<void> {
    if (uses.length === 0) return;
    const { registry, log } = this.#parts;
    try {
      await registry.ledger.append(
        uses.map((use) => ledgerEntry(this.#parts, use, auditOf(use.id, useInWords(use)), 'network.used')),
      );
    } catch (error) {
      log.warn({ err: error }, 'what sandboxes used of the network is not in the ledger yet');
      this.#traffic.uses.putBack(uses);
    }
  }

  /** Tells `watcher` of the bytes of each request. Returns the unsubscriber. */
  onCarried(watcher: (carried: CarriedBytes) => void): () => void {
    return this.#traffic.onCarried(watcher);
  }

  /** Writes the counts of traffic that are not written yet. */
  flush(): Promise<void> {
    return this.#traffic.flush();
  }

  /** Carries out a request of a sandbox. */
  readonly fetch: FetchHost = async (id, request, signal, taken) => {
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    try {
      return await this.#fetch(parseInstanceId(id), request, ended, taken);
    } catch (error) {
      if (ended.aborted) return { failure: 'aborted', message: 'the call has ended' };
      if (error instanceof Refusal) return { failure: error.failure, message: error.message };
      this.#parts.log.warn({ err: error, instance: id }, 'a request of a sandbox failed');
      return { failure: 'broken', message: 'the server could not carry it out' };
    }
  };

  async #fetch(id: InstanceId, request: FetchRequest, signal: AbortSignal, taken: Promise<void>): Promise<FetchAnswer> {
    const { registry, clock } = this.#parts;
    const row = await registry.instances.get(id);
    if (row === null) throw new Refusal('refused', 'the sandbox is gone');
    if (!profileOf(row.policy).capabilities.includes('fetch')) throw new Refusal('profile', noNetwork(row.policy));
    const parsed = parseOutgoingUrl(request.url);
    const [sandbox, tenant] = await Promise.all([
      registry.network.policy('sandbox', id),
      registry.network.policy('tenant', row.tenant),
    ]);
    const sides = await this.#sidesOf(row, sandbox, tenant);
    const { method, decode } = request;
    const to = { host: 'url' in parsed ? parsed.url.origin : '', method };
    const limited = sides
      .map(({ meter, limits, of }) => meter.refusal(clock.now(), limits, of))
      .find((why) => why !== null);
    if (limited !== undefined) throw await this.#limited(row, to, limited, sides);
    for (const { meter } of sides) meter.addRequest(clock.now());
    if ('wrong' in parsed) throw await this.#refused(row, to, `the address ${parsed.wrong}`, 'malformed');
    const { url } = parsed;
    const rules = rulesFor(allowedByBoth(tenant?.rules ?? [], sandbox?.rules ?? null), url, method);
    if (rules.length === 0) {
      const why = `${method} ${url.origin} is not allowed for this sandbox: no entry of its network list covers it`;
      throw await this.#refused(row, to, why);
    }
    const isPrivate = rules.some((rule) => rule.private);
    const secrets = await this.#secretsFor(row, to, url, rules);
    const made = requestHeaders(request.headers, { url, method, secrets, decode });
    if ('wrong' in made) throw await this.#refused(row, to, made.wrong);
    const drop = this.#held.take(row.tenant, request.body?.byteLength ?? 0);
    if (drop === null) throw await this.#limited(row, to, TOO_MUCH_HELD, sides);
    try {
      const release = await this.#turn(row, to, sides, signal);
      try {
        const used = sides
          .map(({ meter, limits, of }) => meter.bytesRefusal(clock.now(), limits, of))
          .find((why) => why !== null);
        if (used !== undefined) throw await this.#limited(row, to, used, sides);
        const answer = await this.#send(row, url, request, { headers: made.headers, isPrivate, signal, sides });
        return this.#keep(row, await answered(answer, request, secrets), taken);
      } finally {
        release();
      }
    } finally {
      drop();
    }
  }

  /** Counts the bytes of an answer until its process has taken it. */
  #keep(row: InstanceRow, answer: FetchAnswer, taken: Promise<void>): FetchAnswer {
    const drop = this.#held.take(row.tenant, 'body' in answer ? answer.body.byteLength : 0);
    if (drop === null) throw new Refusal('limit', TOO_MUCH_HELD);
    void taken.then(drop);
    return answer;
  }

  /** Secrets go over TLS, and without it to hosts that were allowed as private ones. */
  async #secretsFor(row: InstanceRow, to: Destination, url: URL, rules: readonly UrlRule[]): Promise<SecretHeader[]> {
    if (url.protocol !== 'https:' && !rules.some((rule) => rule.private)) return [];
    try {
      return await this.#parts.secrets.headersFor({ instanceId: row.id, tenant: row.tenant }, url);
    } catch (error) {
      if (!isWinterdockError(error)) throw error;
      throw await this.#refused(row, to, 'a secret for this address does not open any more: set it again');
    }
  }

  async #send(
    row: InstanceRow,
    url: URL,
    request: FetchRequest,
    options: { headers: Record<string, string | string[]>; isPrivate: boolean; signal: AbortSignal; sides: Side[] },
  ): Promise<OutgoingAnswer> {
    const { method, body, timeoutMs } = request;
    const allowed = options.isPrivate ? [url.origin] : [];
    const resolve: Resolve = (name) => this.#lookups.of(row.tenant, name);
    const guard = createAddressPolicy(allowed, resolve, { isPlainAllowed: true, longest: LONGEST_URL });
    const count = (bytesIn: number) => {
      const bytesOut = sizeOfRequest(url, request);
      this.#traffic.add(row, url.origin, { calls: 1, bytesOut, bytesIn });
      for (const { meter } of options.sides) meter.addBytes(this.#parts.clock.now(), bytesOut + bytesIn);
    };
    try {
      const answer = await sendOutgoing(guard, {
        url,
        method,
        headers: options.headers,
        body: body ?? '',
        timeoutMs: Math.ceil(Math.min(timeoutMs ?? MOST_REQUEST_MS, MOST_REQUEST_MS)),
        mostBytes: MOST_ANSWER_BYTES,
        signal: options.signal,
      });
      count(sizeOfAnswer(answer));
      return answer;
    } catch (error) {
      if (isWinterdockError(error) && error.code !== 'capacity') {
        throw await this.#refused(row, { host: url.origin, method }, lowered(error.message));
      }
      count(0);
      if (options.signal.aborted) throw error;
      throw new Refusal(failureOf(error), lowered(error instanceof Error ? error.message : String(error)));
    }
  }

  /** The meters of a sandbox and of its tenant, with their limits. */
  async #sidesOf(row: InstanceRow, sandbox: NetworkPolicyRow | null, tenant: NetworkPolicyRow | null): Promise<Side[]> {
    return [
      { meter: await this.#meterOf('sandbox', row.id), limits: limitsOf('sandbox', sandbox), of: 'this sandbox' },
      { meter: await this.#meterOf('tenant', row.tenant), limits: limitsOf('tenant', tenant), of: 'its tenant' },
    ];
  }

  /** Refuses because of a limit, late and with one line a minute: a loop that asks again costs less. */
  async #limited(row: InstanceRow, { host }: Destination, why: string, sides: Side[]): Promise<Refusal> {
    this.#traffic.add(row, host, { refused: 1 });
    const isFirst = sides.filter(({ meter }) => meter.isFirstRefusal(this.#parts.clock.now())).length > 0;
    if (isFirst) await this.#record(row, host === '' ? why : `${host}: ${why}`);
    await new Promise((resolve) => setTimeout(resolve, SLOWED_MS));
    return new Refusal('limit', why);
  }

  async #refused(
    row: InstanceRow,
    { host, method }: Destination,
    why: string,
    failure: FetchFailure = 'refused',
  ): Promise<Refusal> {
    this.#traffic.add(row, host, { refused: 1 });
    const what = [method.slice(0, 20), host].filter((part) => part !== '').join(' ');
    await this.#record(row, why.startsWith(what) ? why : `${what}: ${why}`);
    return new Refusal(failure, why);
  }

  /** A line of the ledger; those that repeat are counted there. It names the host: a path may hold what is secret. */
  async #record(row: InstanceRow, error: string): Promise<void> {
    const { registry } = this.#parts;
    await registry.ledger.append([
      ledgerEntry(this.#parts, row, auditOf(row.id), 'network.refused', { error: error.slice(0, HOST_ERROR_LENGTH) }),
    ]);
  }

  #meterOf(kind: NetworkSubject, id: string): Promise<Meter> {
    const key = `${kind} ${id}`;
    const known = this.#meters.get(key);
    if (known !== undefined) return known;
    if (this.#meters.size >= MOST_METERS) this.#meters.delete(this.#meters.keys().next().value ?? '');
    const { registry, clock } = this.#parts;
    const now = clock.now();
    const midnight = Math.floor(now / HOUR_MS / DAY_HOURS) * DAY_HOURS;
    const made = this.flush()
      .catch(() => {})
      .then(() => registry.network.bytesSince(kind, id, midnight))
      .then((bytes) => new Meter(now, bytes));
    this.#meters.set(key, made);
    made.catch(() => this.#meters.delete(key));
    return made;
  }

  /** Waits for a turn, round robin by tenant. Returns what ends it. */
  async #turn(row: InstanceRow, to: Destination, sides: Side[], signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= MOST_WAITING || this.#waiting.lengthOf(row.tenant) >= MOST_WAITING_OF_TENANT) {
      throw await this.#limited(row, to, 'too many requests wait for their turn', sides);
    }
    const begun = Promise.withResolvers<void>();
    const turn: Turn = { id: row.id, begin: () => begun.resolve() };
    const leave = () => {
      this.#waiting.remove(turn);
      begun.reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(row.tenant, turn);
    this.#next();
    try {
      await begun.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
    return () => {
      this.#count -= 1;
      const left = (this.#running.get(row.id) ?? 1) - 1;
      if (left === 0) this.#running.delete(row.id);
      else this.#running.set(row.id, left);
      this.#next();
    };
  }

  #next(): void {
    while (this.#count < PARALLEL) {
      const turn = this.#waiting.take(({ id }) => (this.#running.get(id) ?? 0) < PARALLEL_OF_SANDBOX);
      if (turn === undefined) return;
      this.#count += 1;
      this.#running.set(turn.id, (this.#running.get(turn.id) ?? 0) + 1);
      turn.begin();
    }
  }
}

function limitsOf(kind: NetworkSubject, policy: NetworkPolicyRow | null): MeterLimits {
  const { requestsPerMinute, bytesPerDay } = NETWORK_DEFAULTS[kind];
  return {
    requestsPerMinute: policy?.requestsPerMinute ?? requestsPerMinute,
    bytesPerDay: policy?.bytesPerDay ?? bytesPerDay,
  };
}

/** What the ledger says of who did it: the sandbox, by itself. */
function auditOf(id: InstanceId, reason: string | null = null) {
  const by = { trigger: 'request', via: 'system', requestId: null, address: null } as const;
  return { ...by, actor: `sandbox:${id}`, reason };
}

/** A sentence of the server as the rest of one. */
function lowered(sentence: string): string {
  return (sentence.charAt(0).toLowerCase() + sentence.slice(1)).replace(/\.$/, '');
}
