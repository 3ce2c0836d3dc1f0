/**
 * Collects what transfers in this process leave behind: buffers outside of V8's heap, which V8 counts only when it next
 * looks at the whole heap. Left to itself it does so at nearly every transfer, on all processors for some 50 ms.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A file leaves some four times its bytes. The collection of young objects takes a millisecond or two. */
const COLLECTED_BYTES = 2 * 1024 * 1024;
/** After a transfer somebody wakes, or has just filed, in milliseconds. */
const LATER_MS = 100;

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | null = null;
let bytes = 0;
let timer: NodeJS.Timeout | null = null;

/** So many bytes were transferred in this process. */
export function leftByTransfer(transferred: number): void {
  bytes += transferred;
  if (bytes < COLLECTED_BYTES || timer !== null) return;
  timer = setTimeout(() => {
    timer = null;
    bytes = 0;
    collect ??= exposedCollect();
    collect({ type: 'minor' });
  }, LATER_MS).unref();
}

/** What `node --expose-gc` has, without a flag at the start of the process. */
function exposedCollect(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed: Collect = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return exposed;
}
