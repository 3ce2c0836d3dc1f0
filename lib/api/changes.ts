/**
 * What the ledger's lines changed, as it is now: the rows and counts that they are about, read and serialised once for everybody who may
 * see the same. Knows nothing of connections.
 */
import type { EventHub } from '../events.ts';
import type { LedgerLine, Registry } from '../registry/registry.ts';
import { eventText } from './answer.ts';
import type { Changes } from './schema.ts';
import type { Showing } from './showing.ts';

/** At most so often: what is looked at needs no more, and under a flood a row is then read once for many lines. */
const EVERY_MS = 500;
/** More rows than a page shows are not told one by one. */
const MOST_ROWS = 500;
const MOST_TENANTS = 100;

/** The tenants whose rows a follower may see; null: all. */
type Scope = readonly string[] | null;

export interface ChangeFeed {
  /** Calls `send` with a server-sent event whenever something changed, while lines are appended. Returns the way out. */
  join(scope: Scope, send: (piece: Buffer) => void): () => void;
  /** Tells once more what these lines are about: somebody missed it. */
  again(lines: readonly About[]): void;
  /** How the ledger stands for who has seen it up to `seq`: its last number, and whether every line after `seq` is still there. */
  standing(seq: number): Promise<{ last: number; whole: boolean }>;
}

/** What a line is about. */
type About = Pick<LedgerLine, 'type' | 'instance' | 'tenant'>;

interface Group {
  scope: Scope;
  sends: Set<(piece: Buffer) => void>;
}

/** Makes the feed. It reads only while somebody follows. */
export function createChangeFeed(parts: {
  events: Pick<EventHub, 'failed'>;
  registry: Pick<Registry, 'onAppend' | 'get' | 'lastSeq' | 'ledgerAfter' | 'countsByState' | 'countsByFault'>;
  showing: Showing;
  everyMs?: number;
}): ChangeFeed {
  const { events, registry, showing, everyMs = EVERY_MS } = parts;
  const groups = new Map<string, Group>();
  let leave: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let told = 0;
  let rows = new Set<string>();
  let tenants = new Set<string>();

  const tell = async () => {
    const ids = [...rows];
    const names = [...tenants];
    rows = new Set();
    tenants = new Set();
    const seq = await registry.lastSeq();
    const found = await Promise.all(ids.slice(0, MOST_ROWS).map((id) => registry.get(id)));
    const shown = await showing.showAll(found.filter((row) => row !== null));
    const theirs = new Map<string, Changes['states']>();
    for (const tenant of names.slice(0, MOST_TENANTS)) theirs.set(tenant, await registry.countsByState([tenant]));
    for (const { scope, sends } of groups.values()) {
      const sees = (tenant: string) => scope === null || scope.includes(tenant);
      const counted = scope === null ? [] : ([scope] as const);
      const changes: Changes = {
        seq,
        rows: shown.filter(({ tenant }) => sees(tenant)),
        more: ids.length > MOST_ROWS || names.length > MOST_TENANTS,
        states: await registry.countsByState(...counted),
        faults: await registry.countsByFault(...counted),
        tenants: [...theirs].flatMap(([tenant, states]) => (sees(tenant) ? [{ tenant, states }] : [])),
      };
      const piece = Buffer.from(eventText('changes', changes));
      for (const send of [...sends]) send(piece);
    }
  };

  const plan = () => {
    timer ??= setTimeout(
      () => {
        told = performance.now();
        tell()
          .catch(events.failed)
          .finally(() => {
            timer = undefined;
            if (rows.size > 0 || tenants.size > 0) plan();
          });
      },
      Math.max(0, told + everyMs - performance.now()),
    );
  };

  const hear = (lines: readonly About[]) => {
    for (const { type, instance, tenant } of lines) {
      // Looking changes nothing.
      if (type === 'private.read') continue;
      if (instance !== null) rows.add(instance);
      if (tenant !== null) tenants.add(tenant);
    }
    if (rows.size > 0 || tenants.size > 0) plan();
  };

  return {
    join(scope, send) {
      const key = scope === null ? '*' : [...scope].sort().join(' ');
      const group = groups.get(key) ?? { scope, sends: new Set() };
      groups.set(key, group);
      group.sends.add(send);
      leave ??= registry.onAppend(hear);
      return () => {
        group.sends.delete(send);
        if (group.sends.size === 0 && groups.get(key) === group) groups.delete(key);
        if (groups.size > 0) return;
        leave?.();
        leave = undefined;
        clearTimeout(timer);
        timer = undefined;
      };
    },
    again: hear,
    async standing(seq) {
      const last = await registry.lastSeq();
      if (seq >= last) return { last, whole: seq === last };
      const [next] = await registry.ledgerAfter(seq, 1);
      return { last, whole: next?.seq === seq + 1 };
    },
  };
}
