/** Where a request comes from. Pure. A proxy's word counts only when the settings say that there is one. */
import { type AnyHeaders, headerOf } from './header.ts';

/** Set by the front on what it hands to the pages, over whatever the client sent. */
export const PEER_HEADER = 'x-winterdock-peer';

/** The address without the wrapping that IPv6 sockets give to IPv4 ones. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/**
 * The client's address: the peer's, or what the proxy nearest to us added to `X-Forwarded-For` when proxies are
 * trusted. What a client wrote there itself stands further left and counts for nothing.
 */
export function addressOf(headers: AnyHeaders, peer: string | null, trustProxy: boolean): string | null {
  const told = trustProxy ? headerOf(headers, 'x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  const address = told === undefined || told === '' ? peer : told.slice(0, 64);
  return address === null ? null : plain(address);
}

/**
 * What stands for one client when requests are counted: an IPv4 address, or the /64 of an IPv6 one, which is one
 * customer's.
 */
export function clientOf(address: string | null): string {
  if (address === null) return 'unknown';
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: gap }, () => '0'), ...after].slice(0, 4).join(':');
}
