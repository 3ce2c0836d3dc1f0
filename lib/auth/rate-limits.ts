/**
 * Rate limits: requests by key and by address, the time that strangers' pages take by address, wrong keys by address,
 * wrong passwords by account and address. Counts are in memory, so a restart resets them. The counting library is
 * loaded with the first request that is counted; those of the admin key are not.
 */
import type { RateLimiterMemory } from 'rate-limiter-flexible';
import { WinterdockError } from '../base/errors.ts';
import { clientKey } from './address.ts';

const MINUTE = 60;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;

/** Wrong passwords for one account from one address before it must wait for a quarter of an hour. */
const WRONG_PASSWORDS = 5;
/** Wrong passwords from one address for all accounts together, in a quarter of an hour. */
const WRONG_PASSWORDS_OF_ADDRESS = 30;
/**
 * Wrong passwords for one account from all addresses together, in an hour. Addresses with an open session of the person
 * are exempt.
 */
const WRONG_PASSWORDS_OF_ACCOUNT = 60;
/** Sign-ins of one person by password in an hour: each makes a session and a ledger line. */
const SIGN_INS_OF_ACCOUNT = 120;
/** Seconds in which an address may take the time that it has. */
const COST_SECONDS = 10;
/** Addresses remembered because the admin key was right from there. */
const GOOD_ADDRESSES = 10_000;

export interface RateSettings {
  /** Requests a minute; 0: no limit. */
  ratePerKey: number;
  ratePerAddress: number;
  /** Wrong keys a minute from one address; 0: no limit. */
  rateWrongKeys: number;
  /** Milliseconds in ten seconds that pages without a session may hold the server for one address; 0: no limit. */
  costPerAddress: number;
}

export interface RateLimits {
  /** Counts one request of a key (`key:<id>`; null when it was none) from an address. Throws `rate_limited`. */
  countRequest(key: string | null, address: string | null): Promise<void>;
  /** Counts the milliseconds that a request without a session held the server. */
  countCost(address: string | null, heldMs: number): Promise<void>;
  /** Throws `rate_limited` while the requests without a session from an address have taken all of their time. */
  checkCost(address: string | null): Promise<void>;
  /** Counts one wrong key. Throws `rate_limited` once there were too many. */
  countWrongKey(address: string | null): Promise<void>;
  /**
   * Throws `rate_limited` when too many wrong keys came from an address, unless the admin key was right from there
   * before: a stranger at the same address cannot lock its holder out.
   */
  checkAdminKey(address: string | null): void;
  /** Remembers that the admin key was right from an address. */
  acceptAdminKey(address: string | null): void;
  /**
   * Counts an attempt before the password is checked, so that parallel attempts cannot exceed the limit. `known`: the
   * person has an open session from this address. Throws `rate_limited`.
   */
  countAttempt(account: string, address: string | null, known: boolean): Promise<void>;
  /** The password was right: resets the counts of wrong ones and counts a sign-in. */
  acceptPassword(account: string, address: string | null): Promise<void>;
}

/** Makes them. */
export function createRateLimits(settings: RateSettings): RateLimits {
  let loading: Promise<Counters> | null = null;
  const counters = (): Promise<Counters> => {
    loading ??= makeCounters(settings);
    return loading;
  };
  const goodAddresses = new Set<string>();
  /** When an address with too many wrong keys may try again, in epoch milliseconds. */
  const blocked = new Map<string, number>();

  return {
    async countRequest(key, address) {
      const { ratePerKey, ratePerAddress } = settings;
      if (ratePerKey === 0 && ratePerAddress === 0) return;
      const { byKey, byAddress } = await counters();
      if (key !== null && ratePerKey > 0) await spend(byKey, key, 'This key asks too often.');
      if (ratePerAddress > 0) await spend(byAddress, clientKey(address), 'This address asks too often.');
    },

    async countCost(address, heldMs) {
      if (settings.costPerAddress === 0 || heldMs < 1) return;
      await (await counters()).costs.penalty(clientKey(address), Math.round(heldMs));
    },

    async checkCost(address) {
      if (settings.costPerAddress === 0) return;
      const used = await (await counters()).costs.get(clientKey(address));
      if (used === null || used.consumedPoints < settings.costPerAddress) return;
      throw rateLimited('Pages for this address took too much of the server’s time.', used.msBeforeNext / 1000);
    },

    async countWrongKey(address) {
      if (settings.rateWrongKeys === 0) return;
      const { wrongKeys } = await counters();
      const client = clientKey(address);
      try {
        await spend(wrongKeys, client, 'Too many wrong keys came from this address.');
      } catch (error) {
        const wait = error instanceof WinterdockError ? (error.retryAfterSeconds ?? MINUTE) : MINUTE;
        blocked.set(client, performance.now() + wait * 1000);
        if (blocked.size > GOOD_ADDRESSES) blocked.delete(blocked.keys().next().value ?? '');
        throw error;
      }
    },

    checkAdminKey(address) {
      if (blocked.size === 0) return;
      const client = clientKey(address);
      const until = blocked.get(client);
      if (until === undefined || goodAddresses.has(client)) return;
      const wait = until - performance.now();
      if (wait > 0) throw rateLimited('Too many wrong keys came from this address.', wait / 1000);
      blocked.delete(client);
    },

    acceptAdminKey(address) {
      const client = clientKey(address);
      if (goodAddresses.has(client)) return;
      if (goodAddresses.size >= GOOD_ADDRESSES) goodAddresses.delete(goodAddresses.values().next().value ?? '');
      goodAddresses.add(client);
    },

    async countAttempt(account, address, known) {
      const { ofPair, ofAddress, ofAccount, signIns } = await counters();
      const client = clientKey(address);
      const used = await signIns.get(account);
      if (used !== null && used.consumedPoints >= SIGN_INS_OF_ACCOUNT)
        throw rateLimited('This person signed in too often.', used.msBeforeNext / 1000);
      // The address first: a client without attempts left must not fill the memory with made-up accounts.
      await spend(ofAddress, client, TOO_MANY_ATTEMPTS);
      await spend(ofPair, `${account} ${client}`, TOO_MANY_ATTEMPTS);
      if (!known) await spend(ofAccount, account, TOO_MANY_ATTEMPTS);
    },

    async acceptPassword(account, address) {
      const { ofPair, ofAddress, ofAccount, signIns } = await counters();
      const client = clientKey(address);
      await signIns.penalty(account);
      await ofPair.delete(`${account} ${client}`);
      await ofAddress.reward(client);
      await ofAccount.reward(account);
    },
  };
}

const TOO_MANY_ATTEMPTS = 'There were too many attempts to sign in.';

interface Counters {
  byKey: RateLimiterMemory;
  byAddress: RateLimiterMemory;
  costs: RateLimiterMemory;
  wrongKeys: RateLimiterMemory;
  ofPair: RateLimiterMemory;
  ofAddress: RateLimiterMemory;
  ofAccount: RateLimiterMemory;
  signIns: RateLimiterMemory;
}

async function makeCounters({
  ratePerKey,
  ratePerAddress,
  rateWrongKeys,
  costPerAddress,
}: RateSettings): Promise<Counters> {
  const { RateLimiterMemory: Counter } = await import('rate-limiter-flexible');
  const counter = (points: number, duration: number, blockDuration = 0) =>
    new Counter({ points, duration, blockDuration });
  return {
    byKey: counter(ratePerKey, MINUTE),
    byAddress: counter(ratePerAddress, MINUTE),
    costs: counter(costPerAddress, COST_SECONDS),
    wrongKeys: counter(rateWrongKeys, MINUTE),
    ofPair: counter(WRONG_PASSWORDS, QUARTER, QUARTER),
    ofAddress: counter(WRONG_PASSWORDS_OF_ADDRESS, QUARTER),
    ofAccount: counter(WRONG_PASSWORDS_OF_ACCOUNT, HOUR),
    signIns: counter(SIGN_INS_OF_ACCOUNT, HOUR),
  };
}

/** A `rate_limited` error; `seconds` until the client may try again. */
export function rateLimited(message: string, seconds: number): WinterdockError {
  const wait = Math.max(1, Math.ceil(seconds));
  return new WinterdockError('rate_limited', message, {
    retryAfterSeconds: wait,
    hint: wait > 90 ? `Try again in ${Math.ceil(wait / 60)} minutes.` : `Try again in ${wait} s.`,
  });
}

async function spend(counter: RateLimiterMemory, key: string, message: string): Promise<void> {
  try {
    await counter.consume(key);
  } catch (error) {
    // The library rejects with the time left to wait; anything else is an error of its own.
    if (typeof error === 'object' && error !== null && 'msBeforeNext' in error) {
      throw rateLimited(message, Number(error.msBeforeNext) / 1000);
    }
    throw error;
  }
}
