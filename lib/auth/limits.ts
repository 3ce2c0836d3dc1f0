/**
 * How often one may ask, and how often one may be wrong: requests by key and by address, wrong keys by address, wrong
 * passwords by account and address. Counts are in memory, so a start begins anew. The counting library is loaded by the
 * first who is counted; the admin key is not.
 */
import type { RateLimiterMemory } from 'rate-limiter-flexible';
import { WinterdockError } from '../base/errors.ts';
import { clientOf } from './address.ts';

const MINUTE = 60;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;

/** Wrong passwords for one account from one address until it has to wait for a quarter of an hour. */
const WRONG_PASSWORDS = 5;
/** Wrong passwords from one address, for whatever accounts, in a quarter of an hour. */
const WRONG_PASSWORDS_OF_ADDRESS = 30;
/**
 * Wrong passwords for one account in an hour from all addresses together; where its person has been before is not held
 * back by it.
 */
const WRONG_PASSWORDS_OF_ACCOUNT = 60;
/** Times that one person comes in by a password in an hour: each is a session and a line of the ledger. */
const SIGN_INS_OF_ACCOUNT = 120;
/** Addresses that a key was right from, remembered. */
const GOOD_ADDRESSES = 10_000;

export interface RateSettings {
  /** Requests a minute; 0: no limit. */
  ratePerKey: number;
  ratePerAddress: number;
  /** Wrong keys a minute from one address; 0: no limit. */
  rateWrongKeys: number;
}

export interface Limits {
  /** Counts one request of a key (`key:<id>`; null when it was none) from an address. Throws `rate_limited`. */
  request(key: string | null, address: string | null): Promise<void>;
  /** Counts one wrong key. Throws `rate_limited` from then on when there were too many. */
  wrongKey(address: string | null): Promise<void>;
  /**
   * Throws `rate_limited` where there were too many wrong keys, unless this key was right from there before: a stranger
   * at the same address cannot shut its holder out.
   */
  beforeAdminKey(address: string | null): void;
  /** Remembers that the admin key was right from an address. */
  rightAdminKey(address: string | null): void;
  /**
   * Counts an attempt at a password before it is looked at, so that many at once are as few as one by one. `known`: the
   * person has been at this address before. Throws `rate_limited`.
   */
  attempt(account: string, address: string | null, known: boolean): Promise<void>;
  /**
   * The password was right: what was counted for this account and address is forgotten, and that somebody came in is
   * counted.
   */
  succeeded(account: string, address: string | null): Promise<void>;
}

/** Makes them. */
export function createLimits(settings: RateSettings): Limits {
  let loading: Promise<Counters> | null = null;
  const counters = (): Promise<Counters> => {
    loading ??= makeCounters(settings);
    return loading;
  };
  const goodAddresses = new Set<string>();
  /** When addresses with too many wrong keys may ask again, in epoch milliseconds. */
  const shut = new Map<string, number>();

  return {
    async request(key, address) {
      const { ratePerKey, ratePerAddress } = settings;
      if (ratePerKey === 0 && ratePerAddress === 0) return;
      const { byKey, byAddress } = await counters();
      if (key !== null && ratePerKey > 0) await spend(byKey, key, 'This key asks too often.');
      if (ratePerAddress > 0) await spend(byAddress, clientOf(address), 'This address asks too often.');
    },

    async wrongKey(address) {
      if (settings.rateWrongKeys === 0) return;
      const { wrongKeys } = await counters();
      const client = clientOf(address);
      try {
        await spend(wrongKeys, client, 'Too many wrong keys came from this address.');
      } catch (error) {
        const wait = error instanceof WinterdockError ? (error.retryAfterSeconds ?? MINUTE) : MINUTE;
        shut.set(client, Date.now() + wait * 1000);
        if (shut.size > GOOD_ADDRESSES) shut.delete(shut.keys().next().value ?? '');
        throw error;
      }
    },

    beforeAdminKey(address) {
      if (shut.size === 0) return;
      const client = clientOf(address);
      const until = shut.get(client);
      if (until === undefined || goodAddresses.has(client)) return;
      const wait = until - Date.now();
      if (wait > 0) throw tooOften('Too many wrong keys came from this address.', wait / 1000);
      shut.delete(client);
    },

    rightAdminKey(address) {
      const client = clientOf(address);
      if (goodAddresses.has(client)) return;
      if (goodAddresses.size >= GOOD_ADDRESSES) goodAddresses.delete(goodAddresses.values().next().value ?? '');
      goodAddresses.add(client);
    },

    async attempt(account, address, known) {
      const { ofPair, ofAddress, ofAccount, signIns } = await counters();
      const client = clientOf(address);
      const been = await signIns.get(account);
      if (been !== null && been.consumedPoints >= SIGN_INS_OF_ACCOUNT)
        throw tooOften('This person signed in too often.', been.msBeforeNext / 1000);
      // The address first: who has no attempts left there makes up no more accounts to be remembered.
      await spend(ofAddress, client, WAIT);
      await spend(ofPair, `${account} ${client}`, WAIT);
      if (!known) await spend(ofAccount, account, WAIT);
    },

    async succeeded(account, address) {
      const { ofPair, ofAddress, ofAccount, signIns } = await counters();
      const client = clientOf(address);
      await signIns.penalty(account);
      await ofPair.delete(`${account} ${client}`);
      await ofAddress.reward(client);
      await ofAccount.reward(account);
    },
  };
}

const WAIT = 'There were too many attempts to sign in.';

interface Counters {
  byKey: RateLimiterMemory;
  byAddress: RateLimiterMemory;
  wrongKeys: RateLimiterMemory;
  ofPair: RateLimiterMemory;
  ofAddress: RateLimiterMemory;
  ofAccount: RateLimiterMemory;
  signIns: RateLimiterMemory;
}

async function makeCounters({ ratePerKey, ratePerAddress, rateWrongKeys }: RateSettings): Promise<Counters> {
  const { RateLimiterMemory: Counter } = await import('rate-limiter-flexible');
  const counter = (points: number, duration: number, blockDuration = 0) =>
    new Counter({ points, duration, blockDuration });
  return {
    byKey: counter(ratePerKey, MINUTE),
    byAddress: counter(ratePerAddress, MINUTE),
    wrongKeys: counter(rateWrongKeys, MINUTE),
    ofPair: counter(WRONG_PASSWORDS, QUARTER, QUARTER),
    ofAddress: counter(WRONG_PASSWORDS_OF_ADDRESS, QUARTER),
    ofAccount: counter(WRONG_PASSWORDS_OF_ACCOUNT, HOUR),
    signIns: counter(SIGN_INS_OF_ACCOUNT, HOUR),
  };
}

/** The refusal of what comes too often; `seconds` until it may come again. */
export function tooOften(says: string, seconds: number): WinterdockError {
  const wait = Math.max(1, Math.ceil(seconds));
  return new WinterdockError('rate_limited', says, {
    retryAfterSeconds: wait,
    hint: wait > 90 ? `Try again in ${Math.ceil(wait / 60)} minutes.` : `Try again in ${wait} s.`,
  });
}

async function spend(counter: RateLimiterMemory, who: string, says: string): Promise<void> {
  try {
    await counter.consume(who);
  } catch (error) {
    // The library rejects with what is left to wait; anything else is an error of its own.
    if (typeof error === 'object' && error !== null && 'msBeforeNext' in error) {
      throw tooOften(says, Number(error.msBeforeNext) / 1000);
    }
    throw error;
  }
}
