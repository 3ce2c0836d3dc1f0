/**
 * Looks again at the keys and sessions of open streams after another process may have changed access: a stream ends
 * when its caller's key or session has ended there, or their rights have changed. Knows only callers.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { AccessChange, AccessWatch } from './access-watch.ts';
import type { Caller } from './caller.ts';
import type { AuthLibrary } from './library.ts';

/** Lookups at the same time. */
const AT_ONCE = 20;
/** When the registry does not answer, it is asked again after so long. */
const AGAIN_MS = 1000;

interface AccessRecheck {
  /** Looks at all who are watched; once more when one look is under way. */
  begin(): void;
  /** Resolves when no look is under way; none begins any more. */
  stop(): Promise<void>;
}

/** Makes it. `library` opens the auth library at its first use. */
export function createAccessRecheck(parts: {
  watch: Pick<AccessWatch, 'callers' | 'end'>;
  registry: Pick<Registry, 'keys' | 'people'>;
  library: () => Promise<Pick<AuthLibrary, 'person'>>;
  log: Pick<Logger, 'warn'>;
}): AccessRecheck {
  const { watch, registry, library, log } = parts;
  let looking: Promise<void> | null = null;
  let isAgain = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const ofKey = async ({ actor, role, tenants }: Caller): Promise<AccessChange | null> => {
    const row = await registry.keys.get(actor.slice('key:'.length));
    if (row === null || row.revoked !== null) return 'over';
    return row.role === role && isSame(tenants, row.tenant === null ? null : [row.tenant]) ? null : 'changed';
  };
  const ofSession = async ({ actor, role, tenants, session }: Caller): Promise<AccessChange | null> => {
    const isIt = [{ field: 'id', operator: 'eq', value: session, connector: 'and' }] as const;
    if ((await registry.people.find('session', isIt)) === null) return 'over';
    // Who signed in with the admin key has its rights, whatever the account says.
    if (actor === 'key:admin') return null;
    const person = await (await library()).person(actor.slice('user:'.length));
    if (person === null || person.disabled) return 'over';
    return person.role === role && isSame(tenants, person.tenants) ? null : 'changed';
  };
  /** What became of a caller's access; null: it is as it was. */
  const changeOf = (caller: Caller): Promise<AccessChange | null> | null => {
    if (caller.session !== null) return ofSession(caller);
    return caller.actor.startsWith('key:') && caller.actor !== 'key:admin' ? ofKey(caller) : null;
  };

  const look = async () => {
    // A person or a key has many streams; all that were answered with the same rights end or stay together.
    const byAccess = Map.groupBy(watch.callers(), accessOf);
    const left = [...byAccess];
    const some = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const [access, [caller]] = next;
        const change = caller === undefined ? null : await changeOf(caller);
        if (change !== null) watch.end((one) => accessOf(one) === access, change);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
  };

  const begin = () => {
    clearTimeout(timer);
    if (isStopped || watch.callers().length === 0) return;
    if (looking !== null) {
      isAgain = true;
      return;
    }
    isAgain = false;
    looking = look()
      .catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'the access of open streams was not looked at yet');
        timer = setTimeout(begin, AGAIN_MS).unref();
      })
      .finally(() => {
        looking = null;
        if (isAgain) begin();
      });
  };

  return {
    begin,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

function accessOf({ actor, role, tenants, session }: Caller): string {
  return JSON.stringify([actor, role, tenants, session]);
}

function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
