/** One request to another host and its answer, on one connection. Knows nothing of what is asked. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { isSafeMethod } from '../../auth/origin.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { Signer } from '../../base/signing.ts';
import { releaseBytes } from '../../base/spent-bytes.ts';
import type { OtherHost } from '../whereabouts.ts';
import { BodySeal, type HopBody } from './hop-body.ts';
import { answeredHeaders, HOP_ANSWER, HOP_CLOCK, MISDIRECTED } from './hop-headers.ts';
import { type HopOutcome, hostSilent, hostUnreached, type OutgoingHop } from './hop-request.ts';

/** Bytes of an answer that is held, so that it is sent in one piece, or not at all. */
const HELD_ANSWER = 64 * 1024;
/** How long a host may take to accept a connection. */
const CONNECT_MS = 3000;

/** The body is not wanted any more. */
const OVER = Symbol('over');

interface ExchangeParts {
  sent: ClientRequest;
  request: OutgoingHop;
  to: OtherHost;
  isSecure: boolean;
  nonce: string;
  signer: Pick<Signer, 'sign'>;
}

export class HopExchange {
  readonly to: OtherHost;
  readonly outcome: Promise<HopOutcome>;
  /** Resolves when the connection is free or cut. */
  readonly closed: Promise<void>;
  readonly #parts: ExchangeParts;
  /** Whether the other host may have the request. */
  #isBegun = false;
  #isAnswered = false;
  #fail: (error: unknown) => void = () => undefined;
  /** The answer that is being passed on. */
  #stream: PassThrough | null = null;

  constructor(parts: ExchangeParts) {
    const { sent, request, to } = parts;
    this.#parts = parts;
    this.to = to;
    this.closed = new Promise((resolve) => sent.once('close', () => resolve()));
    this.outcome = new Promise((resolve, reject) => {
      this.#fail = reject;
      sent.once('response', (answer) => this.#take(answer).then(resolve, reject));
      sent.on('error', (error) => reject(this.#silence(error)));
      // What has begun to answer ends by itself, after its connection is free.
      sent.once('close', () => this.#isAnswered || reject(this.#silence()));
    });
    // Whoever fails later than the answer tells it there.
    this.outcome.catch(() => undefined);
    const leave = () => this.#end(new WinterdockError('bad_request', 'The client has left.'));
    if (request.gone.aborted) leave();
    else request.gone.addEventListener('abort', leave, { once: true });
    sent.once('close', () => request.gone.removeEventListener('abort', leave));
    this.#connect();
    this.#sendBody();
  }

  /** The other host will not answer. */
  fail(): void {
    this.#end(this.#silence());
  }

  #silence(cause?: unknown) {
    const { request, to } = this.#parts;
    if (!this.#isBegun) return hostUnreached(to.host, cause);
    return hostSilent(to.host, !isSafeMethod(request.method), cause);
  }

  #end(why: unknown): void {
    this.#fail(why);
    this.#stream?.destroy(why as Error);
    this.#parts.sent.destroy();
  }

  #connect(): void {
    const { sent, isSecure } = this.#parts;
    sent.once('socket', (socket) => {
      if (sent.reusedSocket || !socket.connecting) {
        this.#isBegun = true;
        return;
      }
      const late = setTimeout(() => this.#end(this.#silence(new Error('It accepts no connection.'))), CONNECT_MS);
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        this.#isBegun = true;
        clearTimeout(late);
      });
      sent.once('close', () => clearTimeout(late));
    });
  }

  #sendBody(): void {
    const { sent, request } = this.#parts;
    const { body } = request;
    if (body instanceof Uint8Array) {
      sent.end(body.byteLength === 0 ? undefined : body);
      return;
    }
    sent.flushHeaders();
    sent.once('continue', () => {
      this.#pump(body).catch((error: unknown) => {
        if (error !== OVER) this.#end(error);
      });
    });
  }

  /** Sends a body as fast as the other host takes it. */
  async #pump(body: HopBody): Promise<void> {
    const { sent, nonce, signer } = this.#parts;
    const seal = new BodySeal();
    await body.read((piece) => {
      if (this.#isAnswered || sent.destroyed) throw OVER;
      seal.add(piece);
      if (sent.write(piece, () => body.ownsPieces && releaseBytes(piece))) return;
      return new Promise<void>((resolve) => {
        const goOn = () => {
          sent.off('drain', goOn).off('close', goOn).off('response', goOn);
          resolve();
        };
        sent.once('drain', goOn).once('close', goOn).once('response', goOn);
      });
    });
    if (!sent.destroyed) sent.end(seal.tail(nonce, signer));
  }

  async #take(answer: IncomingMessage): Promise<HopOutcome> {
    this.#isAnswered = true;
    const { request } = this.#parts;
    const { statusCode: status = 0 } = answer;
    const said = answer.headers[HOP_ANSWER];
    if (said !== undefined && status === MISDIRECTED) {
      const clock = answer.headers[HOP_CLOCK];
      answer.resume();
      this.#leaveUnread();
      const known = said === 'moved' || said === 'stale' ? said : 'refused';
      return { said: known, clock: typeof clock === 'string' ? clock : null };
    }
    const headers = answeredHeaders(answer.headers);
    const length = answer.headers['content-length'];
    if (request.method === 'HEAD' || status === 204 || status === 304) {
      answer.resume();
      return { answer: { status, headers, body: null } };
    }
    if (length !== undefined && Number(length) <= HELD_ANSWER) {
      const body = await this.#hold(answer);
      this.#leaveUnread();
      return { answer: { status, headers, body } };
    }
    return { answer: { status, headers, body: this.#follow(answer) } };
  }

  /** What waits to be asked for its body has nothing more to say: its connection is not used again. */
  #leaveUnread(): void {
    const { sent } = this.#parts;
    if (!sent.writableEnded) setImmediate(() => sent.destroy());
  }

  async #hold(answer: IncomingMessage): Promise<Buffer> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of answer) pieces.push(piece as Buffer);
    } catch (error) {
      throw this.#silence(error);
    }
    return Buffer.concat(pieces);
  }

  /** The answer as a stream that fails with our own words, and whose end ends the connection. */
  #follow(answer: IncomingMessage): Readable {
    const { sent } = this.#parts;
    const stream = new PassThrough();
    this.#stream = stream;
    answer.on('error', (error) => stream.destroy(this.#silence(error)));
    answer.once('close', () => {
      if (!answer.readableEnded) stream.destroy(this.#silence());
    });
    stream.once('close', () => {
      if (!answer.complete || !sent.writableEnded) sent.destroy();
    });
    answer.pipe(stream);
    return stream;
  }
}
