/**
 * Lets requests of sandboxes out: what their list and their tenant's both allow, to public addresses or those that are
 * allowed by name, in bounded size, time and number, and with the headers that secrets add. Follows no redirect: the
 * guest asks again, and is asked again.
 */
import { promisify } from 'node:util';
import { brotliDecompress, inflate, inflateRaw, unzip } from 'node:zlib';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { type InstanceId, parseInstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import {
  type FetchAnswer,
  type FetchFailure,
  type FetchHost,
  type FetchRequest,
  noNetwork,
} from '../instance/fetch-messages.ts';
import { profileOf } from '../instance/policies.ts';
import { createOutgoingGuard, type Resolve } from '../outgoing/guard.ts';
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
import type { NetworkPolicyRow, NetworkSubject } from '../registry/network.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { SecretHeader, Secrets } from '../secrets/secrets.ts';
import { ledgerEntry } from '../sessions/engine.ts';
import { answerHeaders, blotted, requestHeaders } from './headers.ts';
import { Meter, type MeterLimits } from './meters.ts';
import { Traffic } from './traffic.ts';

interface BrokerParts {
  registry: Pick<Registry, 'instances' | 'network' | 'ledger' | 'commitEvents'>;
  clock: Clock;
  log: Logger;
  config: Pick<Config, 'usageKeepDays'>;
  secrets: Pick<Secrets, 'headersFor'>;
  /** Default: the system's. */
  resolve?: Resolve | undefined;
}

/** What is refused because of a limit is answered this late: a loop that asks again and again costs less. */
const SLOWED_MS = 100;
/** Meters in memory; without one the bytes of the day are read from the registry. */
const MOST_METERS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const HOST_ERROR_LENGTH = 300;

class Refusal extends Error {
  readonly failure: FetchFailure;

  constructor(failure: FetchFailure, message: string) {
    super(message);
    this.failure = failure;
  }
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
  /** Requests under way, by sandbox. */
  readonly #running = new Map<string, number>();
  readonly #stop = new AbortController();
  #count = 0;
  #stopListening: () => void = () => {};

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    this.#traffic = new Traffic(parts);
  }

  start(): void {
    this.#traffic.start();
    // A sandbox that was filed is not asked any more: its counts are on disk with it, whatever ends the server.
    this.#stopListening = this.#parts.registry.commitEvents.onLedgerAppend((lines) => {
      const isFiled = lines.some(({ type, from, instance }) => {
        return type === 'transition' && from === 'active' && instance !== null && this.#traffic.waitsFor(instance);
      });
      if (isFiled) this.flush().catch(() => {});
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    await this.#traffic.stop();
  }

  /** Writes the counts of traffic that are not written yet. */
  flush(): Promise<void> {
    return this.#traffic.flush();
  }

  /** Carries out a request of a sandbox. */
  readonly fetch: FetchHost = async (id, request, signal) => {
    const ended = AbortSignal.any([signal, this.#stop.signal]);
    try {
      return await this.#fetch(parseInstanceId(id), request, ended);
    } catch (error) {
      if (ended.aborted) return { failure: 'aborted', message: 'the call has ended' };
      if (error instanceof Refusal) return { failure: error.failure, message: error.message };
      this.#parts.log.warn({ err: error, instance: id }, 'a request of a sandbox failed');
      return { failure: 'broken', message: 'the server could not carry it out' };
    }
  };

  async #fetch(id: InstanceId, request: FetchRequest, signal: AbortSignal): Promise<FetchAnswer> {
    const { registry, clock } = this.#parts;
    const row = await registry.instances.get(id);
    if (row === null) throw new Refusal('refused', 'the sandbox is gone');
    if (!profileOf(row.policy).capabilities.includes('fetch')) throw new Refusal('profile', noNetwork(row.policy));
    const parsed = parseOutgoingUrl(request.url);
    if ('wrong' in parsed) throw new Refusal('malformed', `the address ${parsed.wrong}`);
    const { url } = parsed;
    const [sandbox, tenant] = await Promise.all([
      registry.network.policy('sandbox', id),
      registry.network.policy('tenant', row.tenant),
    ]);
    await this.#requireQuota(row, url, sandbox, tenant);
    const rules = rulesFor(allowedByBoth(tenant?.rules ?? [], sandbox?.rules ?? null), url, request.method);
    if (rules.length === 0) {
      const why = `${request.method} ${url.origin} is not allowed for this sandbox: no entry of its network list covers it`;
      throw await this.#refused(row, url, request.method, why);
    }
    const isPrivate = rules.some((rule) => rule.private);
    const secrets = await this.#secretsFor(row, url, rules);
    const { method, decode } = request;
    const made = requestHeaders(request.headers, { url, method, secrets, decode });
    if ('wrong' in made) throw await this.#refused(row, url, method, made.wrong);
    const release = await this.#turn(row, signal);
    try {
      const answer = await this.#send(row, url, request, { headers: made.headers, isPrivate, signal });
      const bytes = { bytesOut: request.body?.byteLength ?? 0, bytesIn: answer.body.byteLength };
      this.#traffic.add(row, url.origin, { calls: 1, ...bytes });
      const meters = await Promise.all([this.#meterOf('sandbox', id), this.#meterOf('tenant', row.tenant)]);
      for (const meter of meters) meter.addBytes(clock.now(), bytes.bytesOut + bytes.bytesIn);
      return await this.#answered(answer, request, secrets);
    } finally {
      release();
    }
  }

  /** Secrets go over TLS, and without it to hosts that were allowed as private ones. */
  async #secretsFor({ id, tenant }: InstanceRow, url: URL, rules: readonly UrlRule[]): Promise<SecretHeader[]> {
    if (url.protocol !== 'https:' && !rules.some((rule) => rule.private)) return [];
    try {
      return await this.#parts.secrets.headersFor({ instanceId: id, tenant }, url);
    } catch (error) {
      if (!isWinterdockError(error)) throw error;
      throw new Refusal('refused', 'a secret for this address does not open any more: set it again');
    }
  }

  async #send(
    row: InstanceRow,
    url: URL,
    { method, body, timeoutMs }: FetchRequest,
    options: { headers: Record<string, string | string[]>; isPrivate: boolean; signal: AbortSignal },
  ): Promise<OutgoingAnswer> {
    const allowed = options.isPrivate ? [url.origin] : [];
    const guard = createOutgoingGuard(allowed, this.#parts.resolve, { isPlainAllowed: true, longest: LONGEST_URL });
    try {
      return await sendOutgoing(guard, {
        url,
        method,
        headers: options.headers,
        body: body ?? '',
        timeoutMs: Math.ceil(Math.min(timeoutMs ?? MOST_REQUEST_MS, MOST_REQUEST_MS)),
        mostBytes: MOST_ANSWER_BYTES,
        signal: options.signal,
      });
    } catch (error) {
      if (options.signal.aborted) throw error;
      if (isWinterdockError(error) && error.code !== 'capacity') {
        throw await this.#refused(row, url, method, lowered(error.message));
      }
      this.#traffic.add(row, url.origin, { calls: 1, bytesOut: body?.byteLength ?? 0 });
      throw new Refusal(failureOf(error), lowered(error instanceof Error ? error.message : String(error)));
    }
  }

  async #answered(
    answer: OutgoingAnswer,
    { decode, method }: FetchRequest,
    secrets: SecretHeader[],
  ): Promise<FetchAnswer> {
    const { status, statusText, rawHeaders, cut } = answer;
    if (cut === 'size') throw tooLarge();
    if (cut === 'time') throw new Refusal('timeout', 'the answer did not end in time');
    if (cut === 'broken') throw new Refusal('broken', 'the answer broke off');
    const encoding = answer.headers['content-encoding']?.trim().toLowerCase();
    // An echo is found in what was decompressed alone.
    const isDecoded = encoding !== undefined && encoding !== 'identity' && (decode || secrets.length > 0);
    const isEmpty = method === 'HEAD' || answer.body.byteLength === 0;
    const body = isDecoded && !isEmpty ? await decompressed(answer.body, encoding) : answer.body;
    const headers = answerHeaders(rawHeaders, isDecoded).map(([name, value]): [string, string] => [
      name,
      blotted(Buffer.from(value, 'latin1'), secrets).toString('latin1'),
    ]);
    return { status, statusText, headers, body: blotted(body, secrets) };
  }

  /** Counts the request. Throws when its sandbox or its tenant has used up a limit. */
  async #requireQuota(
    row: InstanceRow,
    url: URL,
    sandbox: NetworkPolicyRow | null,
    tenant: NetworkPolicyRow | null,
  ): Promise<void> {
    const { clock } = this.#parts;
    const sides = [
      { meter: await this.#meterOf('sandbox', row.id), limits: limitsOf('sandbox', sandbox), of: 'this sandbox' },
      { meter: await this.#meterOf('tenant', row.tenant), limits: limitsOf('tenant', tenant), of: 'its tenant' },
    ];
    const now = clock.now();
    for (const { meter, limits, of } of sides) {
      const why = meter.refusal(now, limits, of);
      if (why === null) continue;
      this.#traffic.add(row, url.origin, { refused: 1 });
      if (meter.isFirstRefusal(now)) await this.#record(row, `${url.origin}: ${why}`);
      await new Promise((resolve) => setTimeout(resolve, SLOWED_MS));
      throw new Refusal('limit', why);
    }
    for (const { meter } of sides) meter.addRequest(now);
  }

  async #refused(row: InstanceRow, url: URL, method: string, why: string): Promise<Refusal> {
    this.#traffic.add(row, url.origin, { refused: 1 });
    await this.#record(row, `${method.slice(0, 20)} ${url.origin}: ${why}`);
    return new Refusal('refused', why);
  }

  /** A line of the ledger; those that repeat are counted there. It names the host: a path may hold what is secret. */
  async #record(row: InstanceRow, error: string): Promise<void> {
    const { registry } = this.#parts;
    const by = { trigger: 'request', via: 'system', requestId: null, address: null, reason: null } as const;
    const audit = { ...by, actor: `sandbox:${row.id}` };
    await registry.ledger.append([
      ledgerEntry(this.#parts, row, audit, 'network.refused', { error: error.slice(0, HOST_ERROR_LENGTH) }),
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
  async #turn(row: InstanceRow, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= MOST_WAITING || this.#waiting.lengthOf(row.tenant) >= MOST_WAITING_OF_TENANT) {
      throw new Refusal('limit', 'too many requests wait for their turn');
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

function tooLarge(): Refusal {
  return new Refusal('too_large', `the answer has more than ${MOST_ANSWER_BYTES} bytes`);
}

const DECOMPRESS = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** Throws for a body that grows beyond what an answer may have, before it has. */
async function decompressed(body: Buffer, encoding: string): Promise<Buffer> {
  const work = Object.hasOwn(DECOMPRESS, encoding) ? DECOMPRESS[encoding as keyof typeof DECOMPRESS] : null;
  if (work === null) throw new Refusal('broken', 'the answer is compressed in a way that was not asked for');
  const limit = { maxOutputLength: MOST_ANSWER_BYTES };
  try {
    // Some servers mean the bare format by "deflate".
    if (encoding === 'deflate' && ((body[0] ?? 0) & 0x0f) !== 8) return await promisify(inflateRaw)(body, limit);
    return await work(body, limit);
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge ? tooLarge() : new Refusal('broken', 'the answer could not be decompressed');
  }
}

/** A sentence of the server as the rest of one. */
function lowered(sentence: string): string {
  return (sentence.charAt(0).toLowerCase() + sentence.slice(1)).replace(/\.$/, '');
}
