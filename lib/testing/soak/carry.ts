/**
 * For tests: sends one command of a random life over HTTP, checks the answer, and returns its meaning for the model.
 */
import type { Got } from '../call.ts';
import { ABSENT, digestOf } from '../whole.ts';
import { type Command, NAMES, type Step } from './commands.ts';
import { type Box, bytesOf, type Copy, type Effect, type Files, type Life, textOf, wrote } from './model.ts';
import type { World } from './world.ts';

/** Everything that exists besides sandboxes, and what may exist. */
export interface Stock {
  boxes: Box[];
  copies: Copy[];
  bundles: { bytes: Buffer; files: Files }[];
  /** Clones whose answer was lost, by the name that they were to have. */
  unsure: { name: string; count: number; files: Files }[];
  /** Sandboxes that a snapshot was put in the place of: what they had is kept aside. */
  restored: Set<string>;
  /** Numbers the names that are given. */
  next: number;
}

/** Most sandboxes of a life at a time, without tombstones. */
const MAX_BOXES = 12;
const MAX_BUNDLES = 3;
const MAX_COPIES = 6;
/** A longer answer counts as hanging. */
const MAX_ANSWER_MS = 60_000;
const FAULTED = ['unknown_state', 'corrupt', 'missing_file'];

export interface Carried {
  effects: Effect[];
  findings: string[];
  /** The requests and their answers, for the log. */
  summary: string;
}

export function isHere({ lives }: Box): boolean {
  return ![...lives].every((life) => life === 'none' || life === 'deleted');
}

const shellPath = (name: string) => `/${name}`;

/** The shell's line of a step; any failure ends the script. */
function lineOf(step: Step): string {
  const into = (name: string) => (name.includes('/d/') ? 'mkdir -p /workspace/d && ' : '');
  const path = shellPath(step.name);
  if (step.op === 'write') return `${into(step.name)}printf '${textOf(step.salt)}' > ${path} || exit 9`;
  if (step.op === 'remove') return `rm -f ${path} || exit 9`;
  return `${into(step.to)}${step.op === 'move' ? 'mv' : 'cp'} ${path} ${shellPath(step.to)} || exit 9`;
}

/**
 * How a command ended that an answer states in full. An error with `started` says that it may have been done: its
 * process died before it could answer, or the wake that it was sent behind failed. Any other error did nothing.
 */
function howOf(got: Got | null): Effect['how'] {
  if (got === null) return 'maybe';
  if (got.status < 300) return 'done';
  return String(got.json.started) === 'true' ? 'maybe' : 'refused';
}

/** Runs commands against a world and the stock that it has. */
export class Carrier {
  readonly #world: World;
  readonly #stock: Stock;

  constructor(world: World, stock: Stock) {
    this.#world = world;
    this.#stock = stock;
  }

  async carry(command: Command): Promise<Carried> {
    const findings: string[] = [];
    const requests: string[] = [];
    const ask = async (method: string, path: string, body?: unknown): Promise<Got | null> => {
      const troubled = this.#world.troubled;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), MAX_ANSWER_MS);
      });
      const got = await Promise.race([this.#world.call(method, `/api${path}`, body).catch(() => null), late]);
      clearTimeout(timer);
      const name = `${method} ${path}`;
      if (got === 'late') {
        findings.push(`${name}: no answer in ${MAX_ANSWER_MS} ms`);
        return null;
      }
      requests.push(
        `${name} ${got === null ? 'lost' : got.status}${(got?.status ?? 0) >= 400 ? ` ${got?.json.code}` : ''}`,
      );
      if (got === null) {
        if (!troubled && !this.#world.troubled) findings.push(`${name}: the connection was cut and nobody cut it`);
        return null;
      }
      const code = String(got.json.code);
      const description = `${name} ${body instanceof Uint8Array ? `${body.byteLength} bytes` : JSON.stringify(body)?.slice(0, 300)}: ${got.status} ${got.text.slice(0, 500)}`;
      if (got.status >= 500 && !(got.status === 503 && ['capacity', 'storage_unavailable'].includes(code)))
        findings.push(description);
      if (got.status === 503 && got.headers['retry-after'] === undefined)
        findings.push(`no Retry-After: ${description}`);
      if (code === 'storage_unavailable' && !troubled && !this.#world.troubled)
        findings.push(`without a cause: ${description}`);
      if (got.status === 409 && FAULTED.includes(code)) findings.push(description);
      return got;
    };
    const effects = await this.#effectsOf(command, ask, findings);
    return { effects, findings, summary: requests.join('; ') };
  }

  #box(number: number): Box | undefined {
    const here = this.#stock.boxes.filter(isHere);
    return here[number % Math.max(here.length, 1)];
  }

  async #effectsOf(
    command: Command,
    ask: (method: string, path: string, body?: unknown) => Promise<Got | null>,
    findings: string[],
  ): Promise<Effect[]> {
    const stock = this.#stock;
    const box = 'box' in command ? this.#box(command.box) : undefined;
    if ('box' in command && box === undefined) return [];
    const at = (rest: string) => `/instances/${box?.id}${rest}`;
    /** The outcome of an answer that states it in full. */
    const effect = (
      got: Got | null,
      steps: readonly Step[],
      life: Life | null,
      more: Partial<Effect> = {},
    ): Effect[] => (box === undefined ? [] : [{ box, steps, life, how: howOf(got), ...more }]);
    const add = (id: string, lives: Life[], files: Files, ephemeral = false) =>
      stock.boxes.push({ id, lives: new Set(lives), files: new Map(files), ephemeral });
    const roomFor = (count: number) => stock.boxes.filter(isHere).length + count <= MAX_BOXES;

    switch (command.kind) {
      case 'create': {
        if (!roomFor(1)) return [];
        const id = `b${stock.next++}`;
        const { ephemeral } = command;
        // Kept hot it ends when a command says so, and not by itself in between.
        const kind = ephemeral ? { ephemeral, keep_hot: true } : {};
        const got = await ask('POST', '/instances', { id, tenant: 'acme', ...kind });
        if (got === null) add(id, ['none', 'created'], new Map(), ephemeral);
        if (got?.status === 201) add(id, ['created'], new Map(), ephemeral);
        return [];
      }
      case 'put': {
        const bytes = bytesOf(command.salt, command.bytes);
        const got = await ask('PUT', at(`/volumes/${command.name}`), bytes);
        return effect(got, [wrote(command.name, digestOf(bytes))], 'live');
      }
      case 'remove': {
        const got = await ask('DELETE', at(`/volumes/${command.name}`));
        // There is no such file: or no such sandbox, when nobody knows whether there is.
        if (got?.status === 404) {
          if (box?.lives.has('none') ?? true) return [];
          // It was woken to find out.
          return effect(got, [], 'live', { saw: { name: command.name, digest: ABSENT }, how: 'maybe' });
        }
        return effect(got, [{ op: 'remove', name: command.name }], 'live');
      }
      case 'read': {
        const got = await ask('GET', at(`/volumes/${command.name}`));
        if (got === null || (got.status !== 200 && got.status !== 404)) return [];
        if (got.status === 404 && (box?.lives.has('none') ?? true)) return [];
        const digest = got.status === 404 ? ABSENT : digestOf(got.bytes);
        return effect(got, [], null, { saw: { name: command.name, digest }, how: 'done' });
      }
      case 'exec': {
        const steps = command.steps.map((step): Step => {
          if (!('to' in step)) return step;
          // What may not be there cannot be moved: it is written then.
          const there = box?.files.get(step.name);
          const sure = there !== undefined && !there.has(ABSENT) && step.name !== step.to;
          return sure ? step : { op: 'write', name: step.to, salt: 1 };
        });
        const lines = steps.map(lineOf);
        if (command.sleepMs > 0) lines.splice(1, 0, `sleep ${command.sleepMs / 1000}`);
        const got = await ask('POST', at('/exec'), { command: lines.join('\n') });
        const clean = got?.status === 200 && Number(got.json.exit_code) === 0 && String(got.json.timed_out) === 'false';
        // `conflict` is also the answer of a call whose process died in the middle.
        const nothing = got !== null && got.status >= 400 && got.status < 500 && String(got.json.code) !== 'conflict';
        return effect(got, steps, 'live', { how: clean ? 'done' : nothing ? 'refused' : 'maybe' });
      }
      case 'eval': {
        const code = `vfs.put(${JSON.stringify(`/${command.name.slice('workspace/'.length)}`)}, '${textOf(command.salt)}')`;
        const got = await ask('POST', at('/eval'), { language: 'js', code });
        const clean = got?.status === 200 && String(got.json.ok) === 'true';
        // `conflict` is also the answer of a call whose process died in the middle.
        const nothing = got !== null && got.status >= 400 && got.status < 500 && String(got.json.code) !== 'conflict';
        const how = clean ? 'done' : nothing ? 'refused' : 'maybe';
        return effect(got, [{ op: 'write', name: command.name, salt: command.salt }], 'live', { how });
      }
      case 'move': {
        if (command.name === command.to) return [];
        const short = (name: string) => name.slice('workspace'.length);
        const body = { from: short(command.name), to: short(command.to) };
        const got = await ask('POST', at('/volumes/workspace/move'), body);
        return effect(got, [{ op: 'move', name: command.name, to: command.to }], 'live');
      }
      case 'verb':
      case 'plan': {
        const body = command.kind === 'plan' ? { to: command.to } : {};
        const got = await ask('POST', at(`/${command.kind === 'plan' ? 'plan' : command.verb}`), body);
        if (box?.ephemeral === true && got !== null && got.status < 300 && String(got.json.state) === 'frozen')
          findings.push(`${box.id}: an ephemeral sandbox was frozen`);
        if (command.kind === 'verb' && (command.verb === 'prefetch' || command.verb === 'settle')) return [];
        const to = command.kind === 'plan' ? command.to : command.verb === 'archive' ? 'archived' : 'live';
        const life = to === 'archived' || to === 'deleted' ? to : 'live';
        // A plan stops in the state that it reached: archived on its way to deletion, when the server was killed
        // before; anywhere, when it failed.
        if (got === null && life === 'deleted') {
          return (['archived', 'deleted'] as const).flatMap((stop) => effect(got, [], stop, { how: 'maybe' }));
        }
        if (got?.status !== 503 || command.kind !== 'plan') return effect(got, [], life);
        return (['live', 'archived'] as const).flatMap((stop) => effect(got, [], stop, { how: 'maybe' }));
      }
      case 'delete': {
        const got = await ask('DELETE', at(''), {});
        return effect(got, [], 'deleted');
      }
      case 'search': {
        await ask('GET', at('/search?q=s1&in=content'));
        return [];
      }
      case 'snapshot':
      case 'blueprint': {
        if (stock.copies.length >= MAX_COPIES) return [];
        const name = `c${stock.next++}`;
        const got =
          command.kind === 'snapshot'
            ? await ask('POST', at('/snapshots'), { tag: name })
            : await ask('POST', '/blueprints', { name, from_instance: box?.id });
        if (got?.status !== 201) return [];
        const { kind } = command;
        const id = kind === 'snapshot' ? String(got.json.id) : name;
        const taken = (files: Files) => {
          const shared = [...files].filter(([path]) => kind === 'snapshot' || path.startsWith('workspace/'));
          stock.copies.push({ kind, id, files: new Map(shared) });
        };
        return effect(got, [], null, { taken });
      }
      case 'ship': {
        const got = await ask('POST', at('/ship'), { include_private: true });
        if (got?.status !== 200) return [];
        const taken = (files: Files) => {
          stock.bundles.push({ bytes: got.bytes, files });
          if (stock.bundles.length > MAX_BUNDLES) stock.bundles.shift();
        };
        return effect(got, [], null, { taken });
      }
      case 'import': {
        const bundle = stock.bundles[command.bundle % Math.max(stock.bundles.length, 1)];
        if (bundle === undefined || !roomFor(1)) return [];
        const id = `i${stock.next++}`;
        const got = await ask('POST', `/instances/import?tenant=acme&id=${id}`, bundle.bytes);
        if (got === null) add(id, ['none', 'created'], bundle.files);
        if (got?.status === 201) add(id, ['created'], bundle.files);
        return [];
      }
      case 'restore':
      case 'clone': {
        const copies = stock.copies.filter(({ kind }) => (kind === 'snapshot') === (command.kind === 'restore'));
        const copy = copies[command.copy % Math.max(copies.length, 1)];
        if (copy === undefined || !roomFor(command.count)) return [];
        const name = `r${stock.next++}`;
        const path = copy.kind === 'snapshot' ? `/snapshots/${copy.id}/restore` : `/blueprints/${copy.id}/clone`;
        const got = await ask('POST', path, { tenant: 'acme', name, count: command.count });
        if (got === null) stock.unsure.push({ name, count: command.count, files: copy.files });
        if (got?.status !== 201) return [];
        const made = got.json as unknown as { id: string }[];
        if (made.length !== command.count) findings.push(`${path}: made ${made.length}, not ${command.count}`);
        for (const { id } of made) add(id, ['created'], copy.files);
        return [];
      }
      case 'forget': {
        const copy = stock.copies[command.copy % Math.max(stock.copies.length, 1)];
        if (copy === undefined) return [];
        const got = await ask('DELETE', copy.kind === 'snapshot' ? `/snapshots/${copy.id}` : `/blueprints/${copy.id}`);
        if (got === null || got.status < 300) stock.copies = stock.copies.filter((one) => one !== copy);
        return [];
      }
      case 'put-back': {
        const sure = stock.copies.filter(
          ({ kind, files }) => kind === 'snapshot' && [...files.values()].every(({ size }) => size === 1),
        );
        const copy = sure[command.copy % Math.max(sure.length, 1)];
        if (copy === undefined || box === undefined) return [];
        const steps = NAMES.map((name): Step => {
          const [digest = ABSENT] = copy.files.get(name) ?? [];
          return digest === ABSENT ? { op: 'remove', name } : wrote(name, digest);
        });
        const got = await ask('POST', at('/restore'), { snapshot: copy.id });
        if (got === null || got.status < 300) stock.restored.add(box.id);
        return effect(got, steps, null);
      }
      case 'job': {
        const boxes = [...new Set(command.boxes.map((number) => this.#box(number)))].filter((one) => one !== undefined);
        if (boxes.length === 0) return [];
        const got = await ask('POST', '/jobs', { verb: command.verb, ids: boxes.map(({ id }) => id) });
        if (got !== null && got.status >= 300) return [];
        return boxes.map((one): Effect => ({ box: one, how: 'maybe', steps: [], life: 'live' }));
      }
      case 'look': {
        const paths = ['/instances', '/tenants', '/settings/storage', '/events?limit=50', '/events/verify', '/jobs'];
        await Promise.all(paths.map((path) => ask('GET', path)));
        return [];
      }
    }
  }
}
