/**
 * Requests that are sent with an `Idempotency-Key`: each is carried out once, and whoever sends it again under its key
 * gets the answer that it had, or has to come. It is kept in memory, for a time and within bounds: a server that starts
 * again knows none. Knows nothing of what is asked for.
 */
import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isWinterdockError, storageFailure, WinterdockError } from '../base/errors.ts';
import { asKeptRequest } from '../base/kept-request.ts';
import type { Answer } from './answer.ts';

/** How long an answer is kept: somebody who lost a connection is back within it. */
const KEPT_MS = 10 * 60_000;
/** How often those of all senders are looked through, and not those of the one who asks alone. */
const SWEEP_MS = 60_000;
/** Of one sender; the oldest go first. */
const MOST_EACH = 1000;
/** Characters of the answers of one sender. */
const MOST_EACH_LENGTH = 8 * 1024 * 1024;
/** Of all senders, so that many cannot fill the memory. */
const MOST_SENDERS = 1000;
const MOST_LENGTH = 64 * 1024 * 1024;
const MOST_KEY_LENGTH = 255;
/** How long somebody who asks again waits for what was late before. */
const AGAIN_MS = 5000;

/** A request under its key. */
export interface RepeatedRequest {
  /** Who sends it, with the rights that it is sent with. */
  sender: string;
  key: string;
  method: string;
  /** As it was sent. */
  target: string;
  body: unknown;
}

interface Kept {
  /** Of method, target and body. */
  print: string;
  answered: Promise<Answer>;
  /** Why it is late, once it is. */
  late: unknown;
  /** Rejects once it is late. */
  whenLate: Promise<never>;
  /** Milliseconds of a steady clock; null while it is under way. */
  endedAt: number | null;
  /** Characters of its answer. */
  length: number;
}

/** The requests of one sender, oldest first. */
interface Sender {
  kept: Map<string, Kept>;
  length: number;
}

/** The value of an `Idempotency-Key`. Throws `validation` when it is none. */
export function requireIdempotencyKey(value: string): string {
  const key = value.trim();
  if (key !== '' && key.length <= MOST_KEY_LENGTH && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new WinterdockError(
    'validation',
    `An Idempotency-Key has 1 to ${MOST_KEY_LENGTH} printable characters and no space.`,
    { hint: 'A random UUID is one.' },
  );
}

export class RepeatedRequests {
  readonly #senders = new Map<string, Sender>();
  #length = 0;
  /** Milliseconds of a steady clock. */
  #sweptAt = performance.now();

  /**
   * Carries out a request by `work`, or gives the answer of the one that came before under its key: `isRepeated`. An
   * answer that says that nothing was done (429, 503) is not kept: the next one tries again. Throws `conflict` when the
   * key came with another request, what `work` throws, and what it is late for while it goes on.
   */
  async answer(
    request: RepeatedRequest,
    work: () => Promise<Answer>,
  ): Promise<{ answer: Answer; isRepeated: boolean }> {
    const print = printOf(request);
    const sender = this.#senderOf(request.sender);
    const known = sender.kept.get(request.key);
    if (known === undefined) {
      const kept = this.#begin(request.sender, sender, request.key, print, work);
      return { answer: await Promise.race([kept.answered, kept.whenLate]), isRepeated: false };
    }
    if (known.print !== print) {
      throw new WinterdockError('conflict', 'This Idempotency-Key came with another request before.', {
        hint: 'Each request needs a key of its own; the same request is sent again as it was.',
      });
    }
    const wait = new AbortController();
    try {
      const late = known.late === undefined ? known.whenLate : lateAgain(known, wait.signal);
      return { answer: await Promise.race([known.answered, late]), isRepeated: true };
    } finally {
      wait.abort();
    }
  }

  #senderOf(name: string): Sender {
    const now = performance.now();
    if (now - this.#sweptAt > SWEEP_MS) {
      this.#sweptAt = now;
      for (const other of this.#senders.keys()) this.#dropOld(other, now);
    } else this.#dropOld(name, now);
    const sender = this.#senders.get(name) ?? { kept: new Map(), length: 0 };
    // The one who came last stays longest.
    this.#senders.delete(name);
    this.#senders.set(name, sender);
    return sender;
  }

  #begin(name: string, sender: Sender, key: string, print: string, work: () => Promise<Answer>): Kept {
    let tell: (why: unknown) => void = () => undefined;
    const whenLate = new Promise<never>((_, reject) => {
      tell = reject;
    });
    whenLate.catch(() => undefined);
    const answered = asKeptRequest((why) => {
      kept.late ??= why;
      tell(why);
    }, work);
    const kept: Kept = { print, answered, late: undefined, whenLate, endedAt: null, length: 0 };
    sender.kept.set(key, kept);
    answered.then(
      (answer) => this.#ended(name, key, kept, answer),
      (error: unknown) => {
        if (!wasRefused(error)) this.#ended(name, key, kept, null);
        else if (sender.kept.get(key) === kept) this.#drop(name, key);
      },
    );
    return kept;
  }

  #ended(name: string, key: string, kept: Kept, answer: Answer | null): void {
    const sender = this.#senders.get(name);
    if (sender?.kept.get(key) !== kept) return;
    kept.endedAt = performance.now();
    kept.length = lengthOf(answer);
    sender.length += kept.length;
    this.#length += kept.length;
    this.#bound(name, sender);
  }

  /** Lets go of the oldest that have ended, of this sender first. */
  #bound(name: string, sender: Sender): void {
    for (const [key, { endedAt }] of sender.kept) {
      if (sender.kept.size <= MOST_EACH && sender.length <= MOST_EACH_LENGTH) break;
      if (endedAt !== null) this.#drop(name, key);
    }
    for (const [other, { kept }] of this.#senders) {
      if (this.#senders.size <= MOST_SENDERS && this.#length <= MOST_LENGTH) return;
      for (const [key, { endedAt }] of kept) if (endedAt !== null) this.#drop(other, key);
    }
  }

  #dropOld(name: string, now: number): void {
    for (const [key, { endedAt }] of this.#senders.get(name)?.kept ?? []) {
      if (endedAt !== null && now - endedAt > KEPT_MS) this.#drop(name, key);
    }
  }

  #drop(name: string, key: string): void {
    const sender = this.#senders.get(name);
    const kept = sender?.kept.get(key);
    if (sender === undefined || kept === undefined) return;
    sender.kept.delete(key);
    sender.length -= kept.length;
    this.#length -= kept.length;
    if (sender.kept.size === 0) this.#senders.delete(name);
  }
}

async function lateAgain({ late }: Kept, signal: AbortSignal): Promise<never> {
  await pause(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
  throw late;
}

/** Whether an error says that nothing was done, for now. */
function wasRefused(thrown: unknown): boolean {
  const error = storageFailure(thrown) ?? thrown;
  return isWinterdockError(error) && (error.retryAfterSeconds !== undefined || error.code === 'storage_unavailable');
}

function printOf({ method, target, body }: RepeatedRequest): string {
  const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
  return `${method} ${target} ${hash('sha256', sent)}`;
}

/** Characters of it, about. */
function lengthOf(answer: Answer | null): number {
  const body = answer?.body;
  if (body === undefined) return 0;
  if ('text' in body) return body.text.length;
  return 'json' in body ? JSON.stringify(body.json).length : 0;
}
