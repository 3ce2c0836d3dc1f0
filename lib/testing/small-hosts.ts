/** For tests: small servers as the hosts of one registry, on real sockets, with sandboxes where a test says. */
import { join } from 'node:path';
import type { Caller } from '../auth/caller.ts';
import { type AnyHeaders, headerOf } from '../auth/header.ts';
import type { InstanceId } from '../base/ids.ts';
import { newSigningKey, type Signer, signerOf } from '../base/signing.ts';
import { HopReceiver } from '../hosts/hop/hop-receiver.ts';
import { HopSender } from '../hosts/hop/hop-sender.ts';
import type { OtherHost, SandboxPlace, SandboxPlaces } from '../hosts/whereabouts.ts';
import { PassOn } from '../http/pass-on.ts';
import { type SmallServer, startSmallServer } from './small-server.ts';

interface SmallHost extends SmallServer {
  name: string;
  signer: Signer;
  sender: HopSender;
  receiver: HopReceiver;
  passOn: PassOn;
  places: SandboxPlaces;
  /** How often it asked where a sandbox is. */
  asked: () => number;
}

export interface SmallHosts {
  /** By name. */
  at(name: string): SmallHost;
  /** Which host each sandbox is on, as the rows say. */
  owners: Map<string, string>;
  /** The rows of the hosts. */
  rows: Map<string, OtherHost>;
  stop(): void;
}

/** Starts one for each name. Uploads are saved in `folder`, under the name of the host. */
export async function startSmallHosts(names: readonly string[], folder: string): Promise<SmallHosts> {
  const hosts = new Map<string, SmallHost>();
  const owners = new Map<string, string>();
  const rows = new Map<string, OtherHost>();
  for (const name of names) {
    const signer = signerOf(newSigningKey(), name);
    let asked = 0;
    const places: SandboxPlaces = {
      self: { name, term: 1 },
      async whereIs(id: InstanceId): Promise<SandboxPlace> {
        asked += 1;
        const owner = owners.get(id) ?? name;
        const row = rows.get(owner);
        if (owner === name) return { here: true };
        if (row !== undefined) return { here: false, tenant: 'acme', ...row };
        return { here: false, unreachable: { host: owner, lastSeenMs: null, recoveryPointMs: null } };
      },
      host: (other) => rows.get(other) ?? null,
      forNew: () => null,
      others: () => [...rows.values()].filter(({ host }) => host !== name),
    };
    const sender = new HopSender({ places, signer });
    const auth = {
      vouchFor: ({ actor, session }: { actor: string; session: string | null }) => ({ actor, session, proof: null }),
      // Of pages, which come with their cookie: `session=` and a tenant, or `all`.
      async callerFromHeaders(headers: AnyHeaders): Promise<Caller | null> {
        const [, tenant] = /^session=(\w+)$/.exec(headerOf(headers, 'cookie') ?? '') ?? [];
        if (tenant === undefined) return null;
        const of = { requestId: '', address: null, session: null, actor: 'user:1', via: 'console' } as const;
        return { ...of, role: 'tenant', tenants: tenant === 'all' ? null : [tenant] };
      },
    };
    const passOn = new PassOn({ places, sender, auth, trustProxy: false });
    const receiver = new HopReceiver({ places, signer });
    const server = await startSmallServer(join(folder, name), { receiver, passOn });
    hosts.set(name, { ...server, name, signer, sender, receiver, passOn, places, asked: () => asked });
    rows.set(name, { host: name, url: `http://127.0.0.1:${server.port}`, term: 1, publicKey: signer.issuer });
  }
  return {
    at(name) {
      const host = hosts.get(name);
      if (host === undefined) throw new Error(`There is no host ${name}.`);
      return host;
    },
    owners,
    rows,
    stop() {
      for (const { sender, stop } of hosts.values()) {
        sender.close();
        stop();
      }
    },
  };
}
