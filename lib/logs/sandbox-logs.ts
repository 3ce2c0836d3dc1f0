/**
 * The logs of sandboxes: what calls printed is queued in memory, and a moment later, behind the answers, made into
 * lines, masked, written and told to those who follow. What cannot be kept is dropped and counted: a line of the log
 * itself says so. Nothing of it is synced, and nothing waits for it. Knows nothing of HTTP or of who may read.
 */
import { join } from 'node:path';
import { setImmediate as others } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { echoedForms } from '../secrets/redact-secrets.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { LogFiles } from './log-files.ts';
import { LogFollowers } from './log-followers.ts';
import { encodedLine, type LogLine, type LogSource, type LogStream, seqOfLine } from './log-line.ts';
import { type LogRequest, readLogs } from './log-reading.ts';
import { linesIn, PrintBudget } from './print-budget.ts';
import { levelOf, maskOf, PrintedText, type SecretMask } from './printed-text.ts';

/** One call that prints. */
export interface Printer {
  print(stream: LogStream, text: string): void;
  /** It prints no more. */
  end(): void;
}

interface Printing {
  id: InstanceId;
  source: LogSource;
  requestId: string | null;
  texts: Map<LogStream, PrintedText>;
  hasPrinted: boolean;
}

interface Piece {
  printing: Printing;
  timeMs: number;
  /** Null: it has ended. */
  printed: { stream: LogStream; text: string } | null;
}

interface Queue {
  pieces: Piece[];
  length: number;
  /** Lines that did not fit, since the last line that says so. */
  dropped: number;
}

/** How long lines wait to be written together. */
const GATHER_MS = 150;
/** Characters that wait for being written, of all sandboxes, about. */
const QUEUED_TOTAL = 16 * 1024 * 1024;
/** Characters that are made into lines in one turn of the event loop. */
const TURN = 16 * 1024;
/** How often logs of sandboxes that are gone are looked for. */
const SWEEP_MS = 3_600_000;
const COMPLAIN_MS = 60_000;
const NO_MASK = maskOf([]);

export interface SandboxLogsParts {
  config: Pick<Config, 'dataFolder' | 'logs'>;
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'commitEvents' | 'instances'>;
  secrets: Pick<Secrets, 'usableBy'>;
}

export class SandboxLogs {
  readonly #parts: SandboxLogsParts;
  readonly #files: LogFiles;
  readonly followers = new LogFollowers();
  readonly #queues = new Map<InstanceId, Queue>();
  readonly #budgets = new Map<InstanceId, PrintBudget>();
  readonly #tenants = new Map<InstanceId, string>();
  readonly #droppedOf = new Map<InstanceId, number>();
  /** Dropped lines that no line of the log tells of yet. */
  readonly #untold = new Map<InstanceId, number>();
  readonly #unsubscribe: () => void;
  #queued = 0;
  #dropped = 0;
  #seq = 0;
  #timer: NodeJS.Timeout | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  /** What is done with the files, one after another. */
  #work: Promise<void> = Promise.resolve();
  #complainedMs = Number.NEGATIVE_INFINITY;
  #isFound = false;

  constructor(parts: SandboxLogsParts) {
    this.#parts = parts;
    this.#files = new LogFiles(join(parts.config.dataFolder, 'logs'), parts.config.logs, seqOfLine);
    this.#unsubscribe = parts.registry.commitEvents.onLedgerAppend(({ lines }) => {
      for (const { type, instance, to } of lines)
        if (type === 'transition' && instance !== null && to === 'deleted') this.#forgetLater(instance);
    });
  }

  /** Finds what an earlier server left, and forgets the logs of sandboxes that are gone, now and each hour. */
  start(): void {
    this.#sweeper ??= setInterval(() => void this.#doing(() => this.#sweep()), SWEEP_MS).unref();
    void this.#doing(() => this.#sweep());
  }

  /** Writes what waits. Idempotent. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    await this.flushed();
  }

  /** Whether anything is kept. */
  get isOn(): boolean {
    return this.#parts.config.logs.isOn;
  }

  /** Lines that were dropped since the start of the server. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Of these sandboxes: lines that were dropped since the start. */
  droppedOf(ids: readonly InstanceId[]): number {
    return ids.reduce((sum, id) => sum + (this.#droppedOf.get(id) ?? 0), 0);
  }

  /** Begins the output of a call. Each of its functions takes no time that anybody would wait for. */
  printer(id: InstanceId, source: LogSource, requestId: string | null): Printer {
    const printing: Printing = { id, source, requestId, texts: new Map(), hasPrinted: false };
    return {
      print: (stream, text) => {
        if (text === '') return;
        printing.hasPrinted = true;
        this.#enqueue({ printing, timeMs: this.#parts.clock.now(), printed: { stream, text } });
      },
      end: () => {
        if (printing.hasPrinted) this.#enqueue({ printing, timeMs: this.#parts.clock.now(), printed: null });
      },
    };
  }

  /** Waits until what was printed so far is written or dropped. */
  async flushed(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#doing(() => this.#flush());
  }

  /** Reads one log; the newest lines first. */
  read(ids: readonly InstanceId[], request: LogRequest, signal?: AbortSignal): ReturnType<typeof readLogs> {
    return readLogs(this.#files, ids, request, signal);
  }

  /** The sandboxes of a tenant that have a log. */
  async idsOf(tenant: string): Promise<InstanceId[]> {
    const found: InstanceId[] = [];
    for (const id of this.#files.ids) if ((await this.#tenantOf(id)) === tenant) found.push(id);
    return found;
  }

  #enqueue(piece: Piece): void {
    const { printing } = piece;
    const { id } = printing;
    const queue = this.#queues.get(id) ?? { pieces: [], length: 0, dropped: 0 };
    this.#queues.set(id, queue);
    const printed = this.#keptOf(id, queue, piece);
    if (piece.printed === null || printed !== null) {
      const length = (printed?.text.length ?? 0) + 64;
      queue.pieces.push({ ...piece, printed });
      queue.length += length;
      this.#queued += length;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#doing(() => this.#flush());
    }, GATHER_MS);
  }

  /** What is kept of a piece; null: nothing. The rest is counted. */
  #keptOf(id: InstanceId, queue: Queue, { printed }: Piece): Piece['printed'] {
    if (printed === null) return null;
    const nowMs = performance.now();
    const budget = this.#budgets.get(id) ?? new PrintBudget(nowMs);
    this.#budgets.set(id, budget);
    const { kept, dropped } =
      this.#queued > QUEUED_TOTAL ? { kept: '', dropped: linesIn(printed.text) } : budget.allowed(printed.text, nowMs);
    queue.dropped += dropped;
    return kept === '' ? null : { ...printed, text: kept };
  }

  /** Does something after what was begun before it. What fails is told, and never thrown. */
  #doing(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#complain(error));
    return this.#work;
  }

  #complain(error: unknown): void {
    const now = this.#parts.clock.now();
    if (now - this.#complainedMs < COMPLAIN_MS) return;
    this.#complainedMs = now;
    this.#parts.log.warn({ error: messageOf(error), dropped: this.#dropped }, 'logs of sandboxes are not written');
  }

  async #flush(): Promise<void> {
    if (!this.#isFound) await this.#find();
    const queues = [...this.#queues];
    this.#queues.clear();
    for (const [id, queue] of queues) {
      this.#queued -= queue.length;
      try {
        await this.#writeAll(id, queue);
      } catch (error) {
        this.#drop(
          id,
          queue.dropped + queue.pieces.reduce((sum, { printed }) => sum + linesIn(printed?.text ?? ''), 0),
        );
        this.#complain(error);
      }
    }
  }

  async #writeAll(id: InstanceId, queue: Queue): Promise<void> {
    const row = await this.#parts.registry.instances.get(id);
    if (row === null || row.state === 'deleted') return;
    this.#tenants.set(id, row.tenant);
    const values = echoedForms(await this.#parts.secrets.usableBy(row.tenant, id));
    const mask = values.length === 0 ? NO_MASK : maskOf(values);
    await this.#tellDropped(id, row.tenant);
    let lines: LogLine[] = [];
    let length = 0;
    for (const piece of queue.pieces) {
      for (const part of partsOf(piece)) {
        lines.push(...this.#linesOf(part, mask));
        length += part.printed?.text.length ?? 0;
        if (length < TURN) continue;
        await this.#write(id, row.tenant, lines);
        lines = [];
        length = 0;
        await others();
      }
    }
    await this.#write(id, row.tenant, lines);
    this.#drop(id, queue.dropped);
    await this.#tellDropped(id, row.tenant);
  }

  /** A line of the log itself says what it lacks, as soon as one can be written. */
  async #tellDropped(id: InstanceId, tenant: string): Promise<void> {
    const count = this.#untold.get(id) ?? 0;
    if (count === 0) return;
    const text = `${count} ${count === 1 ? 'line is' : 'lines are'} missing: more than may be printed, or nowhere to be written`;
    this.#untold.delete(id);
    if (!(await this.#write(id, tenant, [this.#ownLine(id, text)]))) this.#untold.set(id, count);
  }

  #linesOf({ printing, timeMs, printed }: Piece, mask: SecretMask): LogLine[] {
    const { id: instance, source, requestId, texts } = printing;
    const lineOf = (stream: LogStream, text: string): LogLine => {
      const level = levelOf(stream, text);
      return { instance, seq: this.#nextSeq(), timeMs, source, stream, level, text, requestId };
    };
    if (printed === null)
      return [...texts].flatMap(([stream, text]) => text.end(mask).map((line) => lineOf(stream, line)));
    const text = texts.get(printed.stream) ?? new PrintedText();
    texts.set(printed.stream, text);
    return text.take(printed.text, mask).map((line) => lineOf(printed.stream, line));
  }

  #ownLine(instance: InstanceId, text: string): LogLine {
    const timeMs = this.#parts.clock.now();
    return {
      instance,
      seq: this.#nextSeq(),
      timeMs,
      source: 'log',
      stream: 'log',
      level: 'warn',
      text,
      requestId: null,
    };
  }

  /** Grows over restarts too: no server writes a million lines a second. */
  #nextSeq(): number {
    this.#seq = Math.max(this.#seq + 1, this.#parts.clock.now() * 1000);
    return this.#seq;
  }

  /** Writes lines; those that cannot be written are dropped. False when some were. */
  async #write(id: InstanceId, tenant: string, lines: readonly LogLine[]): Promise<boolean> {
    let isWhole = true;
    for (const batch of batchesOf(lines, this.#files.partBytes)) {
      try {
        await this.#files.append(id, batch.bytes, batch.lines[0]?.seq ?? 0, batch.lines.at(-1)?.seq ?? 0);
        this.followers.tell(tenant, id, batch.lines);
      } catch (error) {
        isWhole = false;
        this.#drop(id, batch.lines.filter(({ source }) => source !== 'log').length);
        this.#complain(error);
      }
    }
    return isWhole;
  }

  #drop(id: InstanceId, count: number): void {
    if (count === 0) return;
    this.#dropped += count;
    this.#untold.set(id, (this.#untold.get(id) ?? 0) + count);
    this.#droppedOf.set(id, (this.#droppedOf.get(id) ?? 0) + count);
  }

  async #find(): Promise<void> {
    this.#isFound = true;
    this.#seq = Math.max(this.#seq, await this.#files.find());
  }

  async #sweep(): Promise<void> {
    if (!this.#isFound) await this.#find();
    for (const id of this.#files.ids) {
      const row = await this.#parts.registry.instances.get(id);
      if (row === null || row.state === 'deleted') await this.#files.forget(id);
      else this.#tenants.set(id, row.tenant);
      await others();
    }
  }

  #forgetLater(id: InstanceId): void {
    void this.#doing(async () => {
      this.#queues.delete(id);
      this.#tenants.delete(id);
      this.#budgets.delete(id);
      this.#droppedOf.delete(id);
      this.#untold.delete(id);
      await this.#files.forget(id);
    });
  }

  async #tenantOf(id: InstanceId): Promise<string | null> {
    const known = this.#tenants.get(id);
    if (known !== undefined) return known;
    const tenant = await this.#parts.registry.instances.tenantOf(id);
    if (tenant !== null) this.#tenants.set(id, tenant);
    return tenant;
  }
}

/** A piece in parts that one turn of the event loop has time for. */
function* partsOf(piece: Piece): Generator<Piece> {
  const { printed } = piece;
  if (printed === null || printed.text.length <= TURN) yield piece;
  else
    for (let at = 0; at < printed.text.length; at += TURN)
      yield { ...piece, printed: { ...printed, text: printed.text.slice(at, at + TURN) } };
}

/** Lines as bytes, in batches of at most so many, if no line has more. */
function* batchesOf(lines: readonly LogLine[], most: number): Generator<{ bytes: Buffer; lines: LogLine[] }> {
  let encoded: Buffer[] = [];
  let batch: LogLine[] = [];
  let length = 0;
  for (const line of lines) {
    const bytes = Buffer.from(encodedLine(line));
    if (length > 0 && length + bytes.byteLength > most) {
      yield { bytes: Buffer.concat(encoded), lines: batch };
      encoded = [];
      batch = [];
      length = 0;
    }
    encoded.push(bytes);
    batch.push(line);
    length += bytes.byteLength;
  }
  if (batch.length > 0) yield { bytes: Buffer.concat(encoded), lines: batch };
}
