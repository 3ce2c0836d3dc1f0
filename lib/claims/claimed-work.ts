/**
 * Work of one kind that any host may do: claims each piece that is open, carries it out until it is done, and gives it
 * back. Takes up what another host left. Knows nothing of what the work is.
 */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../base/log.ts';
import type { ClaimKind } from '../registry/claims.ts';
import type { Claims, HeldClaim } from './claims.ts';

interface ClaimedWorkParts<T> {
  claims: Claims;
  log: Logger;
  kind: ClaimKind;
  /** For the log: what broke off. */
  what: string;
  keyOf(item: T): string;
  /** What is there to do, whoever has it. */
  open(): Promise<T[]>;
  /** Does a piece of it. When this rejects it is tried again. Once `turn.isOver` nothing more is written. */
  carryOut(item: T, turn: WorkTurn): Promise<void>;
  /** Milliseconds before the attempt after `round` of them. */
  pauseMs(round: number): number;
}

/** One piece under way. */
export interface WorkTurn {
  readonly claim: HeldClaim;
  /** Another server, or an earlier one, began it. */
  readonly isTakenUp: boolean;
  /** Some of it may be done: it was begun by another, or an attempt failed. */
  readonly isAgain: boolean;
  /** The server stops, the claim is lost, or it was called off. */
  readonly isOver: boolean;
}

interface TakeOptions {
  /** Of this very piece, when it was claimed before. */
  claim?: HeldClaim | null;
  isTakenUp?: boolean;
  /** An attempt has failed: the next one comes after a pause. */
  isLater?: boolean;
}

interface Turn extends WorkTurn {
  isAgain: boolean;
}

interface UnderWay {
  /** Aborted when it is called off, or the server stops. */
  readonly off: AbortController;
  ended: Promise<void>;
}

export class ClaimedWork<T> {
  readonly #parts: ClaimedWorkParts<T>;
  readonly #underWay = new Map<string, UnderWay>();
  #leave = () => {};
  #looking: Promise<void> | null = null;
  #isStopped = false;

  constructor(parts: ClaimedWorkParts<T>) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Takes up what earlier servers left. Rejects when the registry cannot be read. */
  async start(): Promise<void> {
    this.#leave = this.#parts.claims.onFree(this.#parts.kind, () => {
      this.look().catch((error) => this.#parts.log.warn({ err: error }, `${this.#parts.what}: not looked for`));
    });
    await this.look();
  }

  /** Begins nothing more, waits for what is under way, and hands it back. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#leave();
    for (const { off } of this.#underWay.values()) off.abort();
    await this.#looking?.catch(() => undefined);
    await this.idle();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
  }

  /** Takes up what is open and nobody's. Looks never overlap. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return;
    for (const item of await this.#parts.open()) await this.take(item, { isTakenUp: true });
  }

  /** Begins a piece of work, unless another has it. */
  async take(item: T, { claim, isTakenUp = false, isLater = false }: TakeOptions = {}): Promise<void> {
    const { claims, kind, keyOf } = this.#parts;
    const key = keyOf(item);
    if (this.#underWay.has(key)) return;
    const held = claim ?? (this.#isStopped ? null : await claims.acquire(kind, key));
    if (held === null) return;
    const piece: UnderWay = { off: new AbortController(), ended: Promise.resolve() };
    this.#underWay.set(key, piece);
    const turn = this.#turn(held, piece, isTakenUp);
    const isOver = AbortSignal.any([piece.off.signal, held.signal]);
    piece.ended = this.#toItsEnd(item, turn, isOver, isLater).finally(() => this.#underWay.delete(key));
  }

  /** Ends a piece of work where it is, whoever has it: here what is under way of it ends first. */
  async callOff(key: string): Promise<void> {
    const piece = this.#underWay.get(key);
    if (piece === undefined) return this.#parts.claims.revoke(this.#parts.kind, key);
    piece.off.abort();
    await piece.ended;
  }

  #turn(claim: HeldClaim, piece: UnderWay, isTakenUp: boolean): Turn {
    const isOver = () => this.#isStopped || piece.off.signal.aborted || claim.isOver;
    return {
      claim,
      isTakenUp,
      isAgain: isTakenUp,
      get isOver() {
        return isOver();
      },
    };
  }

  /** Never rejects. `isOver` is aborted when nothing more of it is to be done. */
  async #toItsEnd(item: T, turn: Turn, isOver: AbortSignal, isLater: boolean): Promise<void> {
    const { log, what, keyOf, carryOut, pauseMs } = this.#parts;
    try {
      for (let round = isLater ? 0 : 1; !turn.isOver; round += 1) {
        if (round > 0) {
          try {
            return await carryOut(item, turn);
          } catch (error) {
            if (!turn.isOver) log.error({ work: keyOf(item), err: error }, `${what} broke off; it is taken up again`);
          }
        }
        turn.isAgain = true;
        // It ends with its signal, and the loop looks why.
        await setTimeout(pauseMs(Math.max(1, round)), undefined, { signal: isOver }).catch(() => undefined);
      }
    } finally {
      await turn.claim.release();
    }
  }
}
