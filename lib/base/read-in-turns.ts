/**
 * The body of an HTTP message, read in turns of the event loop. Node reads up to 2 MiB of a connection before it does
 * anything else, which may be 350 000 pieces of one byte: each costs as much as a large one. Knows nothing of what the
 * body is.
 */
import { IncomingMessage } from 'node:http';

/** Pieces after which others get their turn: some 10 ms. A read that has begun ends first, with 11 000 at most. */
const PIECES = 8192;

/** Has a message give up the event loop after so many pieces of its body, also where the body is only discarded. */
export function readInTurns(message: IncomingMessage): void {
  const { push, _read: read } = IncomingMessage.prototype;
  let [pieces, isHeld, isWanted] = [0, false, false];
  const goOn = () => {
    isHeld = false;
    if (isWanted && !message.complete && !message.destroyed) read.call(message, 0);
  };
  Object.assign(message, {
    push(piece: unknown, encoding?: BufferEncoding): boolean {
      const wantsMore = push.call(message, piece, encoding);
      pieces += 1;
      if (piece === null || (pieces < PIECES && !isHeld)) return wantsMore;
      if (!isHeld) setImmediate(goOn);
      [pieces, isHeld, isWanted] = [0, true, wantsMore];
      // Node stops reading the socket.
      return false;
    },
    _read(size: number): void {
      if (isHeld) isWanted = true;
      else read.call(message, size);
    },
    // Node's own would take the pieces past `push`.
    _dump(): void {
      message.removeAllListeners('data');
      message.resume();
    },
  });
}
