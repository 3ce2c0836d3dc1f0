/**
 * The guard of requests that this server sends to addresses that somebody typed: https only, to public addresses of
 * other machines only, unless the operator of the server allows an origin by name. A name is resolved once and every
 * address of it must be public; the connection is made to those addresses, so a second answer of the name server is
 * never asked for. Knows nothing of what is sent.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { WinterdockError } from '../base/errors.ts';
import { hasAddress, specialRange } from './addresses.ts';

/** All addresses of a name, or an error of the system. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

export interface AddressPolicy {
  /**
   * The address, parsed. Throws `validation` for one that no request may go to, whatever its name resolves to; `field`
   * is what the caller calls it.
   */
  parse(address: string, field?: string): URL;
  /** The addresses to connect to. Throws `forbidden` when one of them is not public. */
  resolve(url: URL): Promise<LookupAddress[]>;
}

const LONGEST = 2000;

interface AddressPolicyOptions {
  /** Every public address may be http. */
  isPlainAllowed?: boolean;
  /** Longest address, in characters. */
  longest?: number;
  /** Addresses of this machine, now: what comes from it to one of them passes no firewall. Default: the system's. */
  own?: () => string[];
}

/** `allowed`: origins (`https://hooks.lan:8443`) that may be http and may have any address. */
export function createAddressPolicy(
  allowed: readonly string[],
  resolve: Resolve = resolveBySystem,
  { isPlainAllowed = false, longest = LONGEST, own = ownAddresses }: AddressPolicyOptions = {},
): AddressPolicy {
  const isAllowed = ({ origin }: URL) => allowed.includes(origin);
  /** Lookups under way: several requests to one name wait for one answer. */
  const underWay = new Map<string, Promise<LookupAddress[]>>();

  const addressesOf = (name: string): Promise<LookupAddress[]> => {
    const family = isIP(name);
    if (family !== 0) return Promise.resolve([{ address: name, family }]);
    const known = underWay.get(name);
    if (known !== undefined) return known;
    const asked = resolve(name).finally(() => underWay.delete(name));
    underWay.set(name, asked);
    return asked;
  };

  return {
    parse(address, field = 'url') {
      const url = URL.canParse(address) ? new URL(address) : null;
      const wrong = refusalOf(address, url, { longest, isPlainAllowed, isAllowed: url !== null && isAllowed(url) });
      if (url !== null && wrong === null) return url;
      throw new WinterdockError('validation', `${field}: ${wrong}`, {
        extra: { errors: [{ path: field, message: wrong }] },
        hint: 'An address in your own network is allowed by name: WB_OUTGOING_ALLOWED=https://hooks.lan:8443',
      });
    },

    async resolve(url) {
      const addresses = await addressesOf(hostOf(url));
      if (addresses.length === 0) throw new WinterdockError('forbidden', 'The name has no address.');
      if (isAllowed(url)) return addresses;
      const special = addresses.map(({ address }) => specialRange(address)).find((range) => range !== null);
      if (special !== undefined) {
        throw new WinterdockError('forbidden', `The name has an address that is not public (${special}).`);
      }
      const local = own();
      if (!addresses.some(({ address }) => hasAddress(local, address))) return addresses;
      throw new WinterdockError('forbidden', 'The name has an address of this machine.');
    },
  };
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
}

/** The host as a resolver or a connection takes it: an IPv6 address without its brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function refusalOf(
  address: string,
  url: URL | null,
  { longest, isPlainAllowed, isAllowed }: { longest: number; isPlainAllowed: boolean; isAllowed: boolean },
): string | null {
  if (url === null || address.length > longest) return `must be a URL of at most ${longest} characters`;
  const mayBePlain = isAllowed || isPlainAllowed;
  if (url.protocol !== 'https:' && !(mayBePlain && url.protocol === 'http:')) return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or a password';
  if (isAllowed) return null;
  const host = hostOf(url);
  const special = isIP(host) === 0 ? null : specialRange(host);
  return special === null ? null : `must have a public address, not a ${special} one`;
}

/** All addresses that the system knows of a name. */
export function resolveBySystem(name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });
}
