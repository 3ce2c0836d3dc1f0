/**
 * For tests: loaded before a server of the drill of hosts, it breaks it in the way that `WB_TEST_BROKEN` names. The
 * drill must find each of them. What is no method is replaced in its source as that is loaded, so these run from
 * sources.
 */
import { registerHooks } from 'node:module';
import { HostLease } from '../../hosts/host-lease.ts';
import { HostObserver, type HostReading, type HostVerdict } from '../../hosts/host-observer.ts';
import { type LeaseMoment, LeaseTerm } from '../../hosts/lease-term.ts';
import { OwnerProof } from '../../replication/promise/owner-proof.ts';

/** What stands in a source, and what stands there instead. */
interface Replaced {
  readonly file: string;
  readonly what: string;
  readonly by: string;
}

/** Has modules loaded with other text. Throws in the server that loads one without what is to be replaced. */
function replaceInSources(all: readonly Replaced[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const replaced = all.filter(({ file }) => url.endsWith(file));
      if (replaced.length === 0) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array | string).toString();
      for (const { what, by } of replaced) {
        if (source.split(what).length !== 2) throw new Error(`${url} does not have this once: ${what}`);
        source = source.replace(what, by);
      }
      return { ...loaded, source };
    },
  });
}

/** What both sides of a lease see of the wall clock. */
const wallNow = (): LeaseMoment => ({ monotonicMs: Date.now(), uptimeMs: Date.now() });

/** A host that could not renew its lease goes on. */
const withoutFencing = () => {
  Object.defineProperty(HostLease.prototype, 'mayAct', { get: () => true });
};

const VARIANTS: Readonly<Record<string, () => void>> = {
  'no-self-fencing': withoutFencing,
  /** The same, and what waits for the replica does not look whose the sandbox is by then. */
  'no-owner-proof': () => {
    withoutFencing();
    OwnerProof.prototype.of = async () => 'own';
  },
  /** A host counts its own lease by the wall clock. */
  'wall-clock-of-the-holder': () => {
    const { renewed, leftMs } = LeaseTerm.prototype;
    LeaseTerm.prototype.renewed = function (asked) {
      renewed.call(this, { ...asked, ...wallNow() });
    };
    LeaseTerm.prototype.leftMs = function () {
      return leftMs.call(this, wallNow());
    };
  },
  /** A host is taken for dead when the time in its row is one lease ago. */
  'wall-clock-of-the-observer': () => {
    HostObserver.prototype.read = ({ hosts }: HostReading) =>
      new Map(
        hosts.map((host): [string, HostVerdict] => {
          const { name, token, leaseMs, renewedMs } = host as typeof host & { renewedMs: number | null };
          if (token === null || leaseMs === null) return [name, 'free'];
          return [name, Date.now() - (renewedMs ?? 0) >= leaseMs ? 'dead' : 'held'];
        }),
      );
  },
  /** Nobody asks whose a sandbox is, nor does a compare-and-set. */
  'no-owner': () => {
    replaceInSources([
      {
        file: '/lib/sandboxes/engine.ts',
        what: 'return ownerHost === null || ownerHost === engine.host.name;',
        by: 'return true;',
      },
      {
        file: '/lib/hosts/sandbox-places.ts',
        what: "if (watch === null || ownerHost === null || ownerHost === self.name || row.state === 'deleted')",
        by: 'if (true)',
      },
      {
        file: '/lib/registry/statements/instance-writes.ts',
        what: "or(isNull(ownerToken), eq(ownerToken, placeholder('ownerToken'))),\n        or(isNull(ownerHost), eq(ownerHost, placeholder('ownerHost'))),",
        by: '',
      },
    ]);
  },
};

export const BROKEN_FLEETS = Object.keys(VARIANTS);

const chosen = process.env.WB_TEST_BROKEN;
if (chosen !== undefined) VARIANTS[chosen]?.();
